"""A package of an engine that comes from outside."""
