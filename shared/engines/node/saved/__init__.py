"""What a job saves on nodes that share no disk: a directory on each, and generations of it in a container.

In: a directory of a node. Out: its files in blobs, and back on the next node (`keep` starts it).
"""
