"""What the emulator remembers, and how clusters and jobs move.

In: records from the API, outcomes of runs, the time. Out: the next records and actions.
"""
