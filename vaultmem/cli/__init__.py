"""The command line.

main            the grammar of all commands, and an error as exit code and words
commands        the caches, asking, looking: sync, watch, status, doctor, recall, search, open, …
edit_commands   save, tag, deprecate, activate, adopt
agent_commands  init, integrate, service, hook, mcp, profile
eval_command    eval
render_text     the engine's values as text, and as JSON
progress        progress for people
"""
