"""Slurm: the engine over slurmrestd; `engine` is the port, `attempts` submits each job exactly once.

Comes in: an order, targets. Goes out: requests of slurmrestd, and observations; `words` says which state of
Slurm is which of ours.
"""
