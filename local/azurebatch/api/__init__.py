"""The wire: routes, bodies, errors, authentication.

Comes in: a request of a client. Goes out: an answer as the service gives it.
"""
