"""A warm engine for other processes of this user, on this machine.

server    the socket, and what is answered on it
client    the engine's verbs, answered by a worker
protocol  what goes over the socket: values as JSON and back
address   where a worker is found: told, looked up, taken back
nearest   the nearest that can answer: a worker, or an engine of our own
"""
