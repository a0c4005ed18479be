"""`slipway download` from storage itself."""
