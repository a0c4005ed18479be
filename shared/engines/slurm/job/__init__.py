"""A job on Slurm: the request, its environment, its resources, and the fields that Slurm cannot honour.

Comes in: an order and the options of its cluster. Goes out: the body of the submission, or problems. Pure.
"""
