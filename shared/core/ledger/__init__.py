"""What the ledger holds: rows, lists, finished jobs, leases, dead messages; and the ports to them. Pure.

Comes in: records and events to keep. Goes out: those that were kept, with the versions that guard a change.
"""
