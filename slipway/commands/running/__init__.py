"""`slipway run`: what is uploaded, which job begins by it, and its way to the end."""
