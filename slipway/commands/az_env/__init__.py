"""`slipway az-env`: the Azure CLI, pointed at the local stack.

In: a data directory. Out: shell settings.
"""
