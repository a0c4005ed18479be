"""`slipway teams …` and `slipway costs`: who shares the clusters of a deployment, and what that costs.

Comes in: a document of teams. Goes out: what it changes, and its problems with their places.
"""
