"""Lists: the rows by which lists show jobs.

Comes in: records as they change, and what a list is asked for. Goes out: rows beside records, and pages.
"""
