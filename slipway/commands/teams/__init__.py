"""`slipway teams`: the teams that share a deployment's clusters, and the keys of their members.

In: a document of teams. Out: the changes that it makes, and its problems with their places.
"""
