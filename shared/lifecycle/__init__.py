"""Lifecycle: from the record `accepted` to its end. Admission, submission, sweep, push, retries, archive.

Comes in: due records and what engines report. Goes out: one transaction a transition, with its event.
"""
