"""`slipway enqueue`: a message on the queue `jobs`.

In: a job.json or a message. Out: the message, with a key and a name.
"""
