"""`slipway mcp`: its tools, and what they answer."""
