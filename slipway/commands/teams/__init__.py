"""`slipway teams …` and `slipway costs`: the teams that share a deployment's clusters, and their costs.

In: a document of teams. Out: the changes that it makes, and its problems with their places.
"""
