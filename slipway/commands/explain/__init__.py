"""`slipway explain`: what would happen to a job, without running it.

In: a document or a folder, and settings or a deployment. Out: its completed job, its order, and its price.
"""
