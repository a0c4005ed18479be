"""What a cluster says of an attempt, in our words. Pure.

Comes in: a Job, its pods, its Workload, events and the record of its run. Goes out: states, ends, waits.
"""
