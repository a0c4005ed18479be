"""The relations between jobs. Pure.

In: the jobs that a job names. Out: what it waits for, and whether that can still happen.
"""
