"""The room of `slipway shell`."""
