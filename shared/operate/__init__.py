"""Operate: what an operator or a caller asks of jobs, events, clusters and dead letters.

In: a request of the API. Out: an answer, and at most one order to another room.
"""
