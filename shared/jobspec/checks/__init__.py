"""The checks of a job.json: its shape, unknown names, rules, lint; `validate` runs all of them. Pure.

In: a document. Out: its problems, and the models if it has no error.
"""
