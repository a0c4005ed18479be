"""Doubles of storage, receivers and schedulers, for tests and measurements."""
