"""From Batch AI's documents to what machines do: environment, volumes, secrets, processes of each toolkit.

Comes in: a job and the nodes that it has. Goes out: `Work` for `local.nodes`.
"""
