"""The memory root on disk, and files as such.

vault        the only hand on the user's Markdown: read, look, write, move, trash
beneath      what lies below a folder, opened so that no link is followed
snapshot     what is on disk now: paths with their stat values
atomic       a file written as a whole, under a name that is free or ours
replacement  a file's bytes replaced, so that nobody's save is lost in between
exchange     renames that never destroy, as systems have them
leases       whether any process has a file open for writing
lost         versions of notes that lost their name when two saves met
leftovers    what killed writes left behind
state_dir    the state dir as a folder of this user alone
lock         the lock of the one writer, freed by the kernel, and the turns of whoever writes notes
watch        changes as sets of paths worth looking at
inotify      watchdog's observer for Linux, made to speak up when it misses something
seals        what the files of a folder were when we last wrote them
"""
