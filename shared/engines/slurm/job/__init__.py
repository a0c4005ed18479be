"""A job as Slurm gets it: the request, its environment, its resources, and what Slurm cannot honour.

Comes in: an order and the options of its cluster. Goes out: the body of the submission, or problems. Pure.
"""
