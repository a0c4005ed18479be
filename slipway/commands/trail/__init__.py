"""`slipway trail`: who did what.

In: the acts that the API lists. Out: a line for each.
"""
