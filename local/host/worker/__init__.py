"""The host's workers: processes that run the function app.

In: an invocation of the host. Out: the function's result or error, and its log lines.
"""
