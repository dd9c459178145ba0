"""A prompt finds its memories: prompt → candidates → signals → score → verdicts → hints.

prompt       what of a prompt is looked up, and in which windows
identifiers  what a prompt names rather than describes
evidence     what both stores say, exactly, of every candidate
rank         the whole way from a query to its answer
scoring      signals → score: every constant of recall, and the arithmetic between them
bonuses      the named little things that move a score
answer       the answer as values: hints, candidates, clues
hints        a hint as the line that an agent is shown
"""
