"""What the screens show, as values that know no widget. Pure.

shelf        which notes are listed, in what order
findings     diagnostics as a list to work through, and which key mends what
preview      a recall preview: what was asked with, what was answered
explanation  why a candidate is hinted or not, in words and numbers
comparison   two notes beside each other, line by line
edit_plan    edits that a person sees before they are carried out
tag_draft    the tags of one or many notes while they are edited
history      undo and redo
activity     events of the engine as lines
"""
