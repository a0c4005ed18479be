"""Orders: what a cluster gets of an attempt.

In: a record and its document. Out: the order, with secrets, credentials, code and our variables.
"""
