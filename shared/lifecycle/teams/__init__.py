"""The quotas of teams: the claims of active jobs, and which waiting job is next.

In: the rows of a pass of the sweeper, or a job at its door. Out: the jobs that may be submitted.
"""
