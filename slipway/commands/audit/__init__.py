"""`slipway audit`: the comparison of drops, ledger, clusters and deliveries.

In: what the API compared. Out: each difference.
"""
