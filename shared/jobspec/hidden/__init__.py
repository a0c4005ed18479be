"""Secrets inside texts: by name, by option, by the shape of a token. Pure."""
