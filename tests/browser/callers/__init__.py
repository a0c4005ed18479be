"""Callers who sign in on the page, with tokens of Entra and with named keys, and what each is offered."""
