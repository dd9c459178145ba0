"""The engine: opens the caches, holds the lock, and is the one place that changes anything. Surfaces ask it.

engine       what surfaces call
parts        what an open engine is made of
keeper       the caches kept in step with the files, in whatever thread
background   the threads that follow changes and embed
editor       edits and saves, from the question to the written note
id_clock     moments for new ids, each given once
answers      what the engine answers with, from the caches
opened       a note as it is on disk now
text_search  which notes a text search may show, with caches and before there are any
status       what the caches hold, and who writes them
doctor       whether notes and caches are well, and mending what is not
lost         what versions that lost their name say of their notes
subscribers  who is told what happens
journal      what happened lately, kept for every process
"""
