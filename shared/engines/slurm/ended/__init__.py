"""How a job on Slurm ended: records of the nodes, completions, accounting.

In: a target that slurmctld has forgotten. Out: the observation of its end, or None.
"""
