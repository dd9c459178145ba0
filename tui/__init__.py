"""The dashboard: requests go up to the app as messages, answers of the engine come down as values.

start      the app in a process of its own, as the command line starts it
ending     by signals, in order
app        keys, the engine's life, and who does what a person asks for
app.tcss   the looks of every widget
requests/  what a person asks for, done
screens/   one per task
panes/     the five tabs
dialogs/   questions over a screen
widgets/   parts of a screen
asking     one call of the engine in a thread, one message back
reader     the same for what is read again and again
inbox      events of the engine, handed over together
key_order  keys in their order
host       the app, as far as its parts may ask it
messages   what all of them tell each other
models/    what the screens show, as values
looks/     words, signs, colours
testing/   a fake engine and what else tests need
"""
