"""The responses of the HTTP API, as types. The OpenAPI document is made from them.

In: nothing. Out: models, which tests compare with the real responses of the routes.
"""
