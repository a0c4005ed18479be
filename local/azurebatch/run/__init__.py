"""Background work: nodes come and go, tasks run and end.

Comes in: records that callers have changed. Goes out: processes, their files, and the records of their ends.
"""
