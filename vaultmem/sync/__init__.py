"""Caches follow files: disk → snapshot → plan → notes → stores → catalog.

plan       what differs between the snapshot and the catalog, as a value; what not to believe yet
lexical    a plan applied to the catalog and the lexical store
dense      vectors for what is pending
integrity  whether the stores hold what the catalog says, and mending what does not
overlay    what differs on disk and could not be synced: answers are read through it
"""
