"""Background work: nodes come and go, tasks run and end.

In: records that callers have changed. Out: processes, their files, and the records of their ends.
"""
