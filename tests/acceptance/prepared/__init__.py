"""The `slipway` command without its start."""
