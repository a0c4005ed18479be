"""`slipway sweep`: look at the jobs of a sweep, or cancel all of them.

In: the options of a command. Out: calls of the API, and lines.
"""
