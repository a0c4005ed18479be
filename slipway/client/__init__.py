"""The client of the HTTP API.

Comes in: what a command asks. Goes out: the API's answer, or a Failure with what the person can do.
"""
