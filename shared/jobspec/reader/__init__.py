"""From the bytes that a person wrote to a document and its problems, and back with `--fix`. Pure.

In: bytes. Out: a document, and problems with their lines and columns.
"""
