"""Questions over a screen, typed by their answer.

dialog       what all have in common
confirm      yes or no
choose       one of several
told         a list to read
hint_lines   the lines an agent would be given
planned      what those have in common that change notes: shown before it is written, never lost
tags         the tags of notes
completions  tags of the vault for what is being typed
describe     a note's description
rename_tag   a tag over the whole vault
"""
