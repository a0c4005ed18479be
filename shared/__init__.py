"""The dispatcher: domain, use cases, adapters, and the wiring that joins them."""
