"""`slipway teams …`: who shares the clusters of a deployment.

Comes in: a document of teams. Goes out: what it changes, and its problems with their places.
"""
