"""The storage account of a deployment, for callers who upload.

In: settings. Out: an account that can be reached, blobs that are replaced.
"""
