"""The local twin of Event Grid: writes of blobs in Azurite become BlobCreated messages of the queue `jobs`.

In: the lines that `writes.mjs` prints in Azurite's process. Out: a CloudEvent for each, in base64.
"""
