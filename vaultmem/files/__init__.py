"""The memory root on disk, and files as such.

vault     the only hand on the user's Markdown: read, look, write, move, trash
beneath   what lies below a folder, opened so that no link is followed
snapshot  what is on disk now: paths with their stat values
atomic    a file's bytes replaced as a whole
lock      the lock of the one writer, freed by the kernel
watch     changes as sets of paths worth looking at
inotify   watchdog's observer for Linux, made to speak up when it misses something
token     the token that clients of a server over HTTP must show
"""
