"""What jobs wrote: logs, lists of files, and files.

Comes in: a job, and which of its files. Goes out: lines, curves and files on this machine.
"""
