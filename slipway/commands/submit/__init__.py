"""`slipway submit`: a job through the HTTP API.

In: a job.json or a message, and the folder that is its code. Out: a job or a sweep.
"""
