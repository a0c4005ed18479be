"""The text of a document: its tree, positions in it, misleading characters. Pure.

In: a text, or a tree of JSON. Out: nodes with their pointers, and their positions in the text.
"""
