"""The overview: what runs, waits and failed, what is free, and what was used.

In: a caller, and whose jobs they ask about. Out: one answer of at most 8 kB.
"""
