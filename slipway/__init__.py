"""The `slipway` command."""
