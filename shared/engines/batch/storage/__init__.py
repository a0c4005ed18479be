"""The app's view of what nodes keep in a blob container: records, logs, outputs.

In: targets and paths. Out: records and files, and errors in Slipway's classes.
"""
