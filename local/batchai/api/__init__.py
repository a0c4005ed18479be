"""Batch AI's wire: routes, bodies, checks, operations."""
