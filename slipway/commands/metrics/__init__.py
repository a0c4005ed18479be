"""`slipway metrics`: the numbers that a job reports.

In: a job, and names of series. Out: curves, or a line for each point.
"""
