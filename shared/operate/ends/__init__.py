"""The ends that people ask for: of one job, of all that fit, of a hold.

In: a caller, and which jobs. Out: the jobs as they are then.
"""
