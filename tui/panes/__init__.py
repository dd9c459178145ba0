"""The five tabs of the dashboard.

overview     is the memory healthy and fresh, at a glance
memories     every note in a table, by time and by tag
diagnostics  what is wrong with the notes, with the fixes as keys
recall       what hints a prompt would get, and why
activity     what the engine did and when
pane         what the tabs have in common
"""
