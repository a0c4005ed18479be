"""A job on Azure Batch: the task, its environment, and the fields that the cluster cannot honour.

In: an order and the options of its cluster. Out: the body of the task, or problems. Pure.
"""
