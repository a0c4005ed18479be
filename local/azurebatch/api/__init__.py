"""The wire: routes, bodies, errors, authentication.

In: a request of a client. Out: the response that the service would send.
"""
