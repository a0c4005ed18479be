"""Adapters: the ports over real services: storage, webhooks, tokens, keys, telemetry.

In: a call of a port. Out: its result, or an error of `shared.core.errors`. They know no use case.
"""
