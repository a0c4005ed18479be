"""Batch AI's wire: routes, bodies, checks, operations.

In: an HTTP request. Out: records for `state`, and their views in the form of the service.
"""
