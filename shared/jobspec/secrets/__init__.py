"""Secrets inside texts: by name, by option, by the shape of a token. Pure.

In: a text that people wrote. Out: the ranges of its secrets, or the text without them.
"""
