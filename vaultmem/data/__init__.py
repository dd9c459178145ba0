"""Files that ship: calibration texts and what the bundled model makes of them, words, small talk, prompts.

shipped  how a shipped file is read
"""
