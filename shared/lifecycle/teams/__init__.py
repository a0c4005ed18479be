"""The quotas of teams: what jobs at work claim of them, and which waiting job is next.

Comes in: the rows of a pass of the timer, or a job at its door. Goes out: those that may be submitted.
"""
