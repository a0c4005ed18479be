"""What jobs have to do with each other. Pure.

In: the jobs that a job names. Out: what it waits for, and whether that can still come.
"""
