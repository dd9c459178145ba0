"""Setting vaultmem up on a machine, once and again without harm.

init        from an Obsidian vault to a memory root and a settings file
integrate   a client's own configuration, edited in place
json_edits  edits to a JSON text that leave every other byte as it is
service     the worker as a service of the user
invocation  how others start vaultmem
obsidian    Obsidian's own list of vaults
"""
