"""A folder for the drop container: which files are uploaded, and which jobs begin by them.

In: a folder. Out: uploaded files, and the outlook of their jobs.
"""
