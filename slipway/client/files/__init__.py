"""Lists, reads and saves the files that a job wrote, for the API's callers.

In: a job and names or patterns. Out: entries, bytes, and files below a local directory.
"""
