"""The emulator's records: pools with their nodes, jobs, tasks.

Comes in: records that have changed. Goes out: the records, also after a restart.
"""
