"""Lists: the rows from which lists of jobs are read.

In: changed records, and the conditions of a list. Out: rows beside records, and pages.
"""
