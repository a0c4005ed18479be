"""https on this machine: a certificate of our own, and a proxy for the account's names in Azure.

In: a connection of a client that trusts the certificate. Out: the same bytes to the local service.
"""
