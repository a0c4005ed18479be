"""Batch AI: the engine over its ARM API, which the emulator serves.

In: an order, targets. Out: requests of `azure-mgmt-batchai`, and observations; `words` maps the states of the
service to ours.
"""
