"""Files: what a job wrote, for callers who may read it. Nothing here changes anything.

Comes in: a job and a path. Goes out: lists, chunks of files, ZIP files, signed addresses, and numbers.
"""
