"""Operate: what an operator or a caller asks of jobs, events, clusters and dead letters.

Comes in: a request of the API. Goes out: an answer, and at most one order to another room.
"""
