"""The host's workers: processes that run the function app.

In: an invocation of the host. Out: what the function returned or raised, and its log lines.
"""
