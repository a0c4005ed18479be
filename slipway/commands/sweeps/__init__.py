"""`slipway sweep`: look at the jobs of a sweep, or cancel all of them.

Comes in: the words of a command. Goes out: calls of the API, and lines.
"""
