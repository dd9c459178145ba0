"""Passive recall: what a client's hook is told about a prompt, and what is kept of it.

entry        `vaultmem hook` at its quickest: hand the event to a worker, print what it says
events       a client's event, read, and its answer in the client's form
session      which hints a message gets, by the rules of a session
usage        what was hinted and opened, as append-only events in the vault
transcripts  what an assistant said last, where only its transcript tells
profiles     what an agent always has in its context
"""
