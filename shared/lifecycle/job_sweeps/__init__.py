"""The jobs of job sweeps, a few of which run at once.

Comes in: the rows of a pass of the timer. Goes out: those whose jobs may be submitted, and ends of sweeps.
"""
