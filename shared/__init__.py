"""The dispatcher: domain, use cases, adapters, and the wiring that joins them."""

__version__ = "0.1.0"
