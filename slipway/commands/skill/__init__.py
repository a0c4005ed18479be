"""`slipway skill`: how a program runs jobs.

In: the version that is installed. Out: a text for coding agents.
"""
