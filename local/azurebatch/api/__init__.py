"""The wire: routes, bodies, errors, authentication.

Comes in: a request of a client. Goes out: the response that the service would send.
"""
