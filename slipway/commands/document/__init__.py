"""Commands about documents: validate, and what it needs."""
