"""What jobs have to do with each other. Pure.

Comes in: the jobs that a job names. Goes out: what it waits for, and whether that can still come.
"""
