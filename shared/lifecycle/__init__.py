"""Lifecycle: from the record `accepted` to its end. Admission, submission, sweeper, push, retries, archive.

In: due records and what engines report. Out: one transaction a transition, with its event.
"""
