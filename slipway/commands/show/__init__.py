"""`slipway show` and `slipway receipt`: all that is known of a job.

In: a job. Out: its record for people, or its receipt as it is stored.
"""
