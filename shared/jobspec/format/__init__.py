"""The format of a job.json: models, limits, toolkits, mounts, scripts and secrets. Pure.

Comes in: a document that was read. Goes out: its models, and the document with what it left out.
"""
