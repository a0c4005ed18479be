"""The local stack: `slipway up`, `demo`, `setup`, `preempt`, `az-env` and `emulate`.

In: options. Out: calls of `slipway.stack`, which a clone has.
"""
