"""Calls of the HTTP API: sent again where no answer comes, and with a key where they submit something.

In: a session and an address. Out: answers, or a Failure with lines for a person.
"""
