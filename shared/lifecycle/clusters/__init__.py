"""Clusters: calls to a cluster, each within a deadline, and not at all while its breaker is open.

Comes in: a cluster, and the index rows of its jobs. Goes out: its answer, or None where it is silent.
"""
