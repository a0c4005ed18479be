"""Azure Storage behind the ports: the ledger in a table, the drops in blobs, the wake-ups in queues."""
