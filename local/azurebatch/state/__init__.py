"""The emulator's records: pools with their nodes, jobs, tasks.

In: records that have changed. Out: the records, also after a restart.
"""
