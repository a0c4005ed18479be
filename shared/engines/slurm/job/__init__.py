"""A job as Slurm gets it: the request, its environment, its resources, and what Slurm cannot honour."""
