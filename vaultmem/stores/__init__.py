"""The state dir: the caches, each behind the one module that knows its library.

catalog       the SQLite ledger of what the stores were made from
catalog_rows  what it keeps of a note, as values and as columns
sqlite_file   SQLite's files of ours: opened, made, read where nothing may be written, and how they fail
vectors       raw vectors by model and text, in SQLite
lexical       the words of each note, in Tantivy
lexical_documents  a note's version as a document of that index, and a hit of it
dense         the vectors of each chunk, searched and replaced
dense_table   their table in LanceDB: made, opened, seen at its newest version
dense_rows    its rows as Arrow tables
dense_upkeep  its vector index and its disk use
dense_build   the child process in which a large index is built
folders       generations of a store as folders
caches        all of them together: which generation lives, what is condemned, what is outdated
access        who may read and who may write them now
"""
