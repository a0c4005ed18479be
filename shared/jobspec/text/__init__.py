"""The text of a document: its tree, where everything stands, characters that mislead. Pure.

In: a text, or a tree of JSON. Out: nodes with their pointers, and their positions in the text.
"""
