"""Storage: the ledger and its neighbours in a table, drops and receipts in blobs, messages in queues.

In: records, events and bytes. Out: transactions of the table service, blobs and messages, or an error whose
type shows whether to try again.
"""
