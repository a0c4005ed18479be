"""Clusters: calls to a cluster, each with a deadline, and none while its breaker is open.

In: a cluster, and the index rows of its jobs. Out: its answer, or None if it does not answer.
"""
