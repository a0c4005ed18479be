"""The local stack: `slipway up` and `slipway demo`."""
