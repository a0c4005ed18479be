"""`slipway nodes`: the clusters, and the state of their nodes.

In: the clusters that the API lists. Out: a line for each node.
"""
