"""Fakes for the tests and pictures of the dashboard.

fake_engine  notes in a dict, the real rules for reading and editing, no disk, no clock
fake_recall  invented scores that add up
notes        notes as a person would write them, and the moment they are looked at
driving      the app run until something holds, and what its screen shows
"""
