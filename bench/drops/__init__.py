"""Measurements of drops."""
