"""slurmrestd: the client and its dialects.

Comes in: a method, a path, a body. Goes out: the answer in one form for all versions, or an engine error.
"""
