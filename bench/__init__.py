"""Measurements: what things cost, not whether they are right."""
