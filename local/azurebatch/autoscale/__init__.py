"""Autoscale formulas: read, and evaluated over samples.

Comes in: the text of a formula, samples of a pool. Goes out: values by name, or what is wrong and where.
"""
