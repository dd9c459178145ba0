"""How good recall is on a golden set: queries with the memories that answer them, and prompts that nothing answers.

golden     a golden set, read and checked against its vault
measure    the figures, the threshold that would separate best, the gates
baselines  what a plain text search would have found
record     an evaluation as JSON, what is kept of one, what changed between two
report     an evaluation for people
histogram  the scores as a picture
propose    queries for a golden set, made of the vault's own notes
"""
