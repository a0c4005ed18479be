"""`slipway backup`: the ledger in a file, and a new table from it.

In: the table of a deployment. Out: a file with every row at one moment; or a table with the rows of a file.
"""
