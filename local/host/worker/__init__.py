"""The host's workers: processes that run the function app.

Comes in: an invocation of the host. Goes out: what the function returned or raised, and its log lines.
"""
