"""Changes of jobs that wait, by the HTTP API.

In: a job, and what is to change. Out: the job as it is then.
"""
