"""The nodes of a job that failed, kept for a while so that a person can look at it there.

In: the end of a run. Out: the same end, recorded at once, and later the nodes.
"""
