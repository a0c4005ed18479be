"""Autoscale formulas: parsed, and evaluated over samples.

Comes in: the text of a formula, samples of a pool. Goes out: values by name, or an error with its place.
"""
