"""Teams that share the clusters of a deployment: their members and rights. Pure.

In: the document of teams, and a caller. Out: the caller's teams, and what the caller may see and use.
"""
