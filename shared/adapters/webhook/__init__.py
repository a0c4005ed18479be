"""Webhooks: which addresses may be called, how a request is signed and sent.

Comes in: an address, an event and the secrets. Goes out: one signed POST, and what its answer means.
"""
