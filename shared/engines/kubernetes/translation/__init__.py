"""A cluster's reports on an attempt, in Slipway's terms. Pure.

In: a Job, its pods, its Workload, events and the record of its run. Out: states, ends, waits.
"""
