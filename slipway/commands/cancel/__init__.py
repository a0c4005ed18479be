"""`slipway cancel`: the end of a job, asked for.

In: a job. Out: its state.
"""
