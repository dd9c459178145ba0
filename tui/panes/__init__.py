"""The five tabs of the dashboard.

overview      counts, severities, weeks, tags, the engine
diagnostics   what is wrong with the notes, by code, with the fixes as keys
finding_view  one of its findings, with its place in the note
recall        a prompt, its candidates, why each is hinted or not
recall_dials  what the prompt is asked with
memories      every note, by time and by tag
activity      what the engine did and when
pane          what they have in common, and the keys that act on notes
"""
