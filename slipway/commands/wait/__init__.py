"""`slipway wait`: the end of a job.

In: a job. Out: its exit code.
"""
