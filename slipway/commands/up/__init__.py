"""`slipway up` and `slipway demo`: the whole system on this machine.

In: options. Out: calls of `slipway.stack`, which a clone has.
"""
