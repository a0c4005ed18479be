"""`slipway costs`: what jobs used and cost.

In: the records of jobs. Out: sums by team, month, name and so on.
"""
