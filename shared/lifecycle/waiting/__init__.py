"""Waiting: why an accepted job is not submitted yet, and what lets it go on.

Comes in: a record, and what is known of limits, pauses and other jobs. Goes out: a wait with its reason, or a
transition.
"""
