"""Waiting: why an accepted job is not submitted yet, and what lets it go on.

In: a record, and what is known of limits, pauses and other jobs. Out: a wait with its reason, or a
transition.
"""
