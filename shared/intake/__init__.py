"""Intake: from a door to the record. Messages, drops, requests, reruns; also what explains without running.

Comes in: bytes from a queue, a blob or a request. Goes out: a record, `accepted` or `rejected`.
"""
