"""How a job on Slurm ended: records of the nodes, completions, accounting.

Comes in: a target that slurmctld has forgotten. Goes out: the observation of its end, or None.
"""
