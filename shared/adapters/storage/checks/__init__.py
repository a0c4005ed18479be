"""Checks: reads rows of every kind, to find those that cannot be read.

In: the jobs and rows that matter. Out: notes of unreadable rows, by their keys.
"""
