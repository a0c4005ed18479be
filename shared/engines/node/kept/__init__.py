"""The files of runs in a container: what is uploaded of a directory, and what comes back for a later job.

In: directories of a node, or names in a container. Out: the same files there.
"""
