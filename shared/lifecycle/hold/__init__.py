"""Jobs that keep their nodes after a failure, so that a person can look at them there.

In: running jobs and the records of their runs. Out: the hold in the record, its event, and the right end.
"""
