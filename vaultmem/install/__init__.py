"""Setting vaultmem up on a machine, once and again without harm.

init           from an Obsidian vault to a memory root and a settings file
integrate      a client's own configuration: what is written, kept as a backup, taken out, and said
json_settings  our hooks and our MCP server in a client's JSON
codex_block    the same as one block of Codex's TOML
json_edits     edits to a JSON text that leave every other byte as it is
invocation     how others start vaultmem
token          what clients of a server over HTTP must show
service        the worker as a service of the user
"""
