"""Storage: the ledger and its neighbours in a table, drops and receipts in blobs, messages in queues.

Comes in: records, events and bytes. Goes out: transactions of the table service, blobs and messages, or an
error that says whether to try again.
"""
