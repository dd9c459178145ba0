"""Passive recall: what a client's hook is told about a prompt, and what is kept of it.

entry        `vaultmem hook` at its quickest: hand the event to a worker, print what it says
process      the long way, where no worker takes the event: an answer in time, or silence
turns        the worker's side: prompts that come at once take turns at the warm engine
budget       the second that a prompt may wait, and who may take how much of it
events       a client's event, read, and its answer in the client's form
session      which hints a message gets, by the rules of a session
suppression  which ids were shown lately, and so are not shown again
usage        what was hinted and opened, as append-only events in the vault
transcripts  what an assistant said last, where only its transcript tells
profiles     what an agent always has in its context
failures     what went wrong, as lines of `hook.log`
"""
