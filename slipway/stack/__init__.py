"""The local stack: `slipway up` and `slipway demo`.

Comes in: ports, a data folder, settings. Goes out: running processes of `local.stack`, and their addresses.
"""
