"""Webhooks: which addresses may be called, how a request is signed and sent."""
