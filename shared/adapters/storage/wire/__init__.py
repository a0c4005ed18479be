"""The storage account by HTTP: addresses, signatures, the table service.

Comes in: an operation on a row or a queue. Goes out: signed requests, and the answer or an error of ours.
"""
