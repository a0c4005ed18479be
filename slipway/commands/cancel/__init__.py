"""`slipway cancel`: asks for the end of a job, or of all that fit.

In: a job, or conditions. Out: what was asked to end, and what could not be.
"""
