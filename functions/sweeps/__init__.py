"""Sweeps, read by the HTTP API.

In: the id of a sweep, or how far back to look. Out: how far it is, or a list.
"""
