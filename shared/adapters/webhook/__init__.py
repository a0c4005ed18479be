"""Webhooks: which addresses may be called, how a request is signed and sent.

In: an address, an event and the secrets. Out: one signed POST, and what its answer means.
"""
