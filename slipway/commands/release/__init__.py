"""`slipway release`: gives back the nodes that a failed job keeps.

In: a job. Out: how it stands, and the exit code.
"""
