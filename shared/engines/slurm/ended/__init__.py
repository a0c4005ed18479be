"""How a job on Slurm ended: records of the nodes, completions, accounting."""
