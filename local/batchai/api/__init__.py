"""Batch AI's wire: routes, bodies, checks, operations.

In: an HTTP request. Out: records for `state`, and the view of them that the service would answer.
"""
