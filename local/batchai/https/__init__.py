"""https on this machine: a certificate of our own, and a proxy for the account's names in Azure."""
