"""`slipway download`: the files that a job wrote.

In: a job, and patterns. Out: files below a local directory.
"""
