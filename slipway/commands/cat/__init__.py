"""`slipway cat`: a file that a job wrote.

In: a job, and the name of a file. Out: its bytes.
"""
