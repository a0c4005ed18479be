"""What the nodes of a cluster keep in a container of blobs, as the app reads it: records, logs, outputs.

Comes in: targets and paths. Goes out: records and files, and errors in our classes.
"""
