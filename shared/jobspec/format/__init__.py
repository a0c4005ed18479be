"""The format of a job.json: models, limits, toolkits, mounts, scripts and secrets. Pure.

In: a document that was read. Out: its models, and the document with its defaults filled in.
"""
