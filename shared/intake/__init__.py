"""Intake: from a door to the record. Messages, drops, requests, reruns; explain, which runs nothing.

Comes in: bytes from a queue, a blob or a request. Goes out: a record, `accepted` or `rejected`.
"""
