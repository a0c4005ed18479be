"""`slipway init`: a folder to begin with.

In: the name of a template. Out: a script, its job.json, and what it needs.
"""
