"""Bytes → Note: how a Markdown file is read, and what is said of one that is wrong. Pure: values in, values out.

metadata     what a note says of itself: the value that travels whole
parse        a note as a value, read from the bytes of its file
field_rules  the rule by which each field of its metadata is read
block        where the metadata block lies, its text as a tree, and what a YAML parser complains of
tree         the tree of a block: scalars, lists and fields, each with its place
problems     what can be wrong with one note, as codes
diagnostics  problems and facts across notes → what a person is told, and how to mend it
names        which files are notes, which look like a sync tool's copy, what new ones are called
tags         how a tag is written
chunks       a body → the pieces that are embedded
markdown     a body → its Markdown blocks
prose        a body → its first sentence as plain text
pieces       a block → pieces that fit a chunk, and small ones packed together
"""
