"""A job on Slurm: the request, its environment, its resources, and the fields that Slurm cannot honour.

In: an order and the options of its cluster. Out: the body of the submission, or problems. Pure.
"""
