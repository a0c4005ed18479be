"""`slipway shell`: a terminal in a running job.

In: a job, and a command. Out: what it prints, and its exit code.
"""
