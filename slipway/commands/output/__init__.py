"""The output of jobs: logs, lists of files, and files.

In: a job, and which of its files. Out: lines, curves and files on this machine.
"""
