"""The triggers: queue, blob, timer, HTTP.

In: a message, a blob, a moment or a request. Out: invocations of functions, as in Azure.
"""
