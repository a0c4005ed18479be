"""The API server of one cluster over HTTP.

Comes in: paths and objects. Goes out: objects, rows, events of a watch, and errors in Slipway's classes.
"""
