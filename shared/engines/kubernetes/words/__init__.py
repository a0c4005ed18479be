"""A cluster's reports on an attempt, in Slipway's terms. Pure.

Comes in: a Job, its pods, its Workload, events and the record of its run. Goes out: states, ends, waits.
"""
