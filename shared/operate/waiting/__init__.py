"""What people change of a job while it waits: its priority, and whether it may start.

In: a caller, a job. Out: the job as it is then.
"""
