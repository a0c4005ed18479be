"""slurmrestd: the client and its dialects.

In: a method, a path, a body. Out: the answer in one form for all versions, or an engine error.
"""
