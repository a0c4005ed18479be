"""The emulator's records, and the transitions of clusters and jobs.

In: records from the API, outcomes of runs, the time. Out: the next records and actions.
"""
