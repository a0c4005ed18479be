"""Ends of jobs by the HTTP API.

In: a job, conditions, or a sweep. Out: what was asked to end.
"""
