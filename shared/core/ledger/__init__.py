"""What the ledger holds: rows, lists, finished jobs, leases, dead messages; and the ports to them. Pure.

In: records and events to keep. Out: those that were kept, with the versions that guard a change.
"""
