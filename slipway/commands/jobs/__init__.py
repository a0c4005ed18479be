"""`slipway jobs`: the newest jobs that fit.

In: conditions. Out: a table, once or again as it changes.
"""
