"""The deployments that a person works with: log in, log out.

Comes in: an address with its key or scope. Goes out: a profile in a file that only its owner can read.
"""
