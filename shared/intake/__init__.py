"""Intake: from a door to the record. Messages, drops, requests and reruns; and explain, which runs nothing.

In: bytes from a queue, a blob or a request. Out: a record, `accepted` or `rejected`.
"""
