"""A job on Azure Batch: the task, its environment, and the fields that the cluster cannot honour.

Comes in: an order and the options of its cluster. Goes out: the body of the task, or problems. Pure.
"""
