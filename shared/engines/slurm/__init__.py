"""Slurm over slurmrestd. `engine` is the port; `attempts` submits each job exactly once.

Comes in: an order, targets. Goes out: requests to slurmrestd, and observations. `words` translates Slurm's
states.
"""
