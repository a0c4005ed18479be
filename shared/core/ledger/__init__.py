"""What the ledger holds: rows, lists, finished jobs, leases, dead messages; and the ports to them. Pure."""
