"""The API server of one cluster over HTTP.

In: paths and objects. Out: objects, rows, and errors in Slipway's classes.
"""
