"""The client of the HTTP API.

In: the request of a command. Out: the API's answer, or a Failure with a remedy for the person.
"""
