"""Secrets inside texts: by name, by option, by the shape of a token. Pure.

Comes in: a text that people wrote. Goes out: where its secrets stand, or the text without them.
"""
