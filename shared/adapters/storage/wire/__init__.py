"""The storage account by HTTP: addresses, signatures, the table service."""
