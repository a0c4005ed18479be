"""Sweeps of jobs, as the client for Python and the commands have them.

Comes in: the id of a sweep. Goes out: how far it is, its jobs, and which of them are the best.
"""
