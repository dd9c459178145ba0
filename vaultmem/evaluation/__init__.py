"""How good recall is on a golden set: queries with the memories that answer them, and prompts that nothing answers.

golden      a golden set, read and checked against its vault
evaluation  every query asked, and all that is said of the answers
figures     what answers come to in numbers: figures, the threshold that would part them best, the gates
baselines   what a plain text search would have found
record      an evaluation as JSON, what is kept of one, what changed between two
report      an evaluation for people
histogram   the scores as a picture
proposals   queries for a golden set, made of the vault's own notes
"""
