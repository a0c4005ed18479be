"""The code that a job owns: its record, and the store of the archives.

In: an archive, named by the digest of its bytes. Out: what is recorded of it, and addresses of it. Pure.
"""
