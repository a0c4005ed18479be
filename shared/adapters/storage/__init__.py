"""Storage: the ledger and its neighbours in a table, drops and receipts in blobs, messages in queues."""
