"""From Batch AI's documents to work for machines: environment, volumes, secrets, processes of each toolkit.

In: a job and the nodes that it has. Out: `Work` for `local.nodes`.
"""
