"""`slipway teams …` and `slipway costs`: who shares the clusters of a deployment, and what that costs.

In: a document of teams. Out: what it changes, and its problems with their places.
"""
