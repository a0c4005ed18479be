"""Batch AI's wire: routes, bodies, checks, operations.

Comes in: an HTTP request. Goes out: records for `state`, and the view of them that the service would answer.
"""
