"""What the app does when a person asks for it.

edits    notes changed: asked about where it matters, carried out by the engine, ready for undo
leave    what a person takes out of the dashboard: into an editor, Obsidian, the clipboard
palette  everything by name
"""
