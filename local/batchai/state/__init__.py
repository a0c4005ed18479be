"""What the emulator remembers, and how clusters and jobs move.

Comes in: records from the API, outcomes of runs, the time. Goes out: the next records and actions.
"""
