"""What the HTTP API answers, as types. The OpenAPI document is made from them.

Comes in: nothing. Goes out: models, which tests hold to what the routes really answer.
"""
