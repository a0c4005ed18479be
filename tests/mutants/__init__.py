"""Mutation testing: small wrong changes to the dispatcher, each of which some test has to notice."""
