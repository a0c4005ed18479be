"""`slipway log`: what a job printed.

In: a job, and which of its files. Out: lines, and the exit code.
"""
