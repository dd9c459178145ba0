"""Bytes → proven bytes: an edit changes the entries it was asked to change, and nothing else. Pure.

changes    what each edit means, by the note that it meets
edits      fields and body spliced into a note's bytes, each result proven
entries    one entry of a block: its value as YAML writes it, replaced or inserted
tag_edits  the tags entry, whose items keep their spelling
proof      the result, read again by several readers, differs in the asked-for fields only
"""
