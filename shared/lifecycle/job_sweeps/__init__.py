"""The jobs of job sweeps, which are at work a few at a time.

Comes in: the rows of a pass of the timer. Goes out: those whose jobs may be submitted, and ends of sweeps.
"""
