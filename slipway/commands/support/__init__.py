"""`slipway support`: what helps others to help with a job.

In: a job. Out: an archive without secrets.
"""
