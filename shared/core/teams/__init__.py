"""Teams that share the clusters of a deployment: their members, with which rights. Pure.

In: the document of teams, and a caller. Out: the caller's teams, and what they may see and use.
"""
