"""The desk, to which every door comes: it looks up what a request only names, and checks its document.

In: a candidate. Out: its draft. Nothing is written.
"""
