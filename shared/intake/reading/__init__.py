"""Reading: what a text of the queue or of a request is, before it is a request for a job. Pure.

In: bytes and JSON. Out: the text without its base64, events of any schema, and messages that carry no job.
"""
