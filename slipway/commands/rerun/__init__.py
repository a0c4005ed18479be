"""`slipway rerun`: a job again, with the code that it ran.

In: a job, or its receipt. Out: the new job.
"""
