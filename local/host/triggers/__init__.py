"""The triggers: queue, blob, timer, HTTP.

Comes in: a message, a blob, a moment or a request. Goes out: invocations of functions, as in Azure.
"""
