"""The commands that need a clone of the repository: `slipway up`, `slipway demo` and `slipway setup`.

In: ports, a data folder, settings. Out: running processes of `local.stack` and their addresses;
the resources of a deployment. It uses `commands`, which do not import it.
"""
