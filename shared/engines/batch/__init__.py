"""Azure Batch: jobs on pools of virtual machines that scale from zero, with GPUs, dedicated or spot.

In: orders for attempts. Out: one task for each, in a long-lived Batch job per cluster and
priority.
"""
