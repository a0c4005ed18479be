"""A job as Azure Batch gets it: the task, its environment, and what the cluster cannot honour.

Comes in: an order and the options of its cluster. Goes out: the body of the task, or problems. Pure.
"""
