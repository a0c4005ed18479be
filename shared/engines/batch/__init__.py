"""Azure Batch: jobs on pools of virtual machines that come from zero, with GPUs, dedicated or spot.

Comes in: orders for attempts. Goes out: a task for each in a long-lived Batch job per cluster and priority.
"""
