"""The command `code`.

In: a job. Out: what its code has, how it differs from a folder, or its files.
"""
