"""The jobs of job sweeps, a few of which run at once.

In: the rows of a pass of the sweeper. Out: those whose jobs may be submitted, and ends of sweeps.
"""
