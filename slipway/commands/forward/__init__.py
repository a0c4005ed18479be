"""The room of `slipway forward`."""
