"""Idle jobs: running jobs whose GPUs do nothing, or whose log is silent, are warned and then ended.

In: the rows of running jobs. Out: warnings, and requests for their ends. What cannot be read is never taken
for idle.
"""
