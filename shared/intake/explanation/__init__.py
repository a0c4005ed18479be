"""Explanations: what would happen with a request. Nothing is recorded or submitted.

Comes in: a candidate. Goes out: the answer, as JSON and as Markdown, without a secret in it.
"""
