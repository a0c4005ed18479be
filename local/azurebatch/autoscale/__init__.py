"""Autoscale formulas: parsed, and evaluated over samples.

In: the text of a formula, samples of a pool. Out: values by name, or an error with its place.
"""
