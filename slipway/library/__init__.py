"""The client for Python: `Client` and `AsyncClient`, their jobs and sweeps.

In: the calls of a program. Out: records, files and numbers of jobs, or a Failure.
"""
