"""How things look: words, signs, colours, widths.

formatting   values → short texts and bars
signs        the words, signs and colours of states, severities and verdicts
themes       two themes of our own
colourless   the screen under `NO_COLOR`
harmless     the last look at what is drawn, for the terminal's sake
preferences  what is remembered between two starts
"""
