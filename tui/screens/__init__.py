"""One screen per task.

dashboard  the tabs
conflict   two notes with one id, side by side
help       the keys
failed     what is left when the engine cannot be opened
"""
