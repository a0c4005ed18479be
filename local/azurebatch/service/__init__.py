"""What the service takes, by its own descriptions.

In: a request's operation, version, query and body. Out: the body as the service reads it, or its refusal.
"""
