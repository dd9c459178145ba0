"""Bytes → Note: how a Markdown file is read, and what is said of one that is wrong. Pure: values in, values out.

metadata     what a note says of itself: the value that travels whole
parse        a note as a value, and the rule by which each of its fields is read
block        where the metadata block lies, and its text as a tree
tree         the tree of a block: scalars, lists and fields, each with its place
yaml_errors  what a YAML parser complains of, in words for people
problems     what can be wrong with one note, as codes
diagnostics  problems and facts across notes → what a person is told, and how to mend it
names        which files are notes, which look like a sync tool's copy, what new ones are called
tags         how a tag is written
chunks       a body → the pieces that are embedded
"""
