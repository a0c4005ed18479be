"""What `slipway init` writes, and the small packages that stand for large ones in its tests."""
