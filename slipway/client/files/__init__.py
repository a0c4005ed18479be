"""Files: what a job wrote, listed, read and saved from a caller's side.

Comes in: a job and names or patterns. Goes out: entries, bytes, and files below a directory of one's own.
"""
