"""Parts of a screen that know no engine and no app: values go in, messages come out.

rows           a table of any length
columns        how the cells of a row share the room
places         the tree of times and tags
filter_bar     a line to type a filter into
boxes          boxes to type into that keep every character
chips          tags as chips
dial           a setting that is turned
tile           a count as a big number
week_plot      a number per week
source         a note's text, the line with the problem marked
note_view      a note's metadata and body
top_bar        the first line: vault, state, freshness
key_bar        the last line: the keys that do something now
too_small      the notice over a window that is too small
"""
