"""`slipway drop`: a folder, uploaded to the drop container.

In: a folder. Out: the jobs that begin by it, or why none does.
"""
