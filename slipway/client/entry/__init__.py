"""Enters running jobs by tools of a person's own.

In: the coordinates that the API answers. Out: command lines, run with this terminal, and ports.
"""
