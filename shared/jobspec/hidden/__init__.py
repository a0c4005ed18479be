"""Secrets inside texts: by name, by option, by the shape of a token. Pure.

In: a text that people wrote. Out: where its secrets stand, or the text without them.
"""
