"""The deployments that a person works with: log in, log out.

In: an address with its key or scope. Out: a profile in a file that only its owner can read.
"""
