"""The text of a document: its tree, where everything stands, characters that mislead. Pure.

Comes in: a text, or a tree of JSON. Goes out: nodes with their pointers, and their positions in the text.
"""
