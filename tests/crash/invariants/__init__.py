"""The invariants of every run of the harness, by subject."""
