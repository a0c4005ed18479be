"""The client of the HTTP API.

In: what a command asks. Out: the API's answer, or a Failure with what the person can do.
"""
