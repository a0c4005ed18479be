"""Webhooks: which addresses may be called, and how a request is signed and sent.

In: an address, an event and the secrets. Out: one signed POST, and the meaning of its response.
"""
