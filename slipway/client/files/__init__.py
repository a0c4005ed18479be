"""Files: what a job wrote, listed, read and saved from a caller's side.

In: a job and names or patterns. Out: entries, bytes, and files below a directory of one's own.
"""
