"""The storage account by HTTP: addresses, signatures, the table service.

In: an operation on a row or a queue. Out: signed requests, and the answer or an error of ours.
"""
