"""Files: what a job wrote, for callers who may read it. Nothing here changes anything.

In: a job and a path. Out: lists, chunks of files, ZIP files, signed addresses, and numbers.
"""
