"""Slurm over slurmrestd. `engine` is the port; `attempts` submits each job exactly once.

In: an order, targets. Out: requests to slurmrestd, and observations. `words` translates Slurm's
states.
"""
