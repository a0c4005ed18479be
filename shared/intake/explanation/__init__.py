"""Explanations: what would happen to a request. Nothing is recorded or submitted.

In: a candidate. Out: the answer, as JSON and as Markdown, without a secret in it.
"""
