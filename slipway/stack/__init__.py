"""What only a clone has: the local stack (`slipway up`, `slipway demo`), and `slipway setup`.

In: ports, a data folder, settings. Out: running processes of `local.stack` and their addresses;
the resources of a deployment. It stands on `commands`, which know nothing of it.
"""
