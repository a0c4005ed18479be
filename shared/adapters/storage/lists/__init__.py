"""Lists: the rows by which lists show jobs.

In: records as they change, and what a list is asked for. Out: rows beside records, and pages.
"""
