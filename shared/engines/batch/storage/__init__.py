"""The app's view of what nodes keep in a blob container: records, logs, outputs.

Comes in: targets and paths. Goes out: records and files, and errors in Slipway's classes.
"""
