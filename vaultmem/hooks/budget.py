"""The second that a prompt may wait for a hook, and who may take how much of it. Constants alone: every hook loads it.

    PROCESS_S         `entry`, from its first line to the answer
      WORKER_S        a worker takes the whole event
        SESSION_S     until another hook of the same session ends
        TURN_S        until other prompts leave the warm engine; then words alone answer
      or else         the long way, in what is left of PROCESS_S
        SESSION_S     as above
        CLUES_S       a worker names the candidates; without one, words alone
      GRACE_S         the long way logs that it was too slow, then it is killed

Each is how long a part waits at most, and they may add up to more: what holds the whole is the kill, and an alarm
that ends the process in silence at PROCESS_S + 2 GRACE_S.
"""

PROCESS_S = 0.9
"""For `vaultmem hook` from its first line to its answer; what is left of a second is Python's own start and end."""
GRACE_S = 0.05
"""For the long way to say in its log that it was too slow, before it is killed."""
WORKER_S = 0.8
"""For a worker to answer a whole event. Both sides count it, lest a hint be recorded that came too late."""
TURN_S = 0.3
"""For a prompt's turn at the worker's warm engine; then words alone answer it, in what is left of WORKER_S."""
CLUES_S = 0.7
"""On the long way, for a worker to name candidates. Less than WORKER_S: the settings are loaded before it, and
after it the hints are still to be recorded."""
SESSION_S = 0.5
"""For another hook of the same session to end."""
