"""Clusters: calls to a cluster, each with a deadline, and none while its breaker is open.

Comes in: a cluster, and the index rows of its jobs. Goes out: its answer, or None if it does not answer.
"""
