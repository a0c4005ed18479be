"""Engines measured on clusters of this machine, each by a command of its own."""
