"""Adapters: the ports over real services. Storage, webhooks, tokens, keys, telemetry.

Comes in: a call of a port. Goes out: its result, or an error of `shared.core.errors`. They know no use case.
"""
