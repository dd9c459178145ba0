"""The command line.

main            the grammar of all commands, and an error as exit code and words
commands        the caches, asking, looking: init, sync, watch, status, doctor, recall, search, open, …
edit_commands   save, tag, deprecate, activate, adopt
agent_commands  mcp, hook, integrate, service, profile
eval_command    eval
input           what a command is made of and starts from: its words, the settings, the engine, stdin
output          what it says on stdout and stderr, and the code it ends with
render_json     the engine's values as JSON documents
render_text     the same as text for people
progress        progress for people
"""
