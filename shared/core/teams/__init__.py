"""Teams that share the clusters of a deployment: their members, with which rights. Pure.

Comes in: the document of teams, and a caller. Goes out: the caller's teams, and what they may see and use.
"""
