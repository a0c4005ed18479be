"""Commands about documents: validate, and what it needs.

In: paths of files, and which checks to leave out. Out: problems, fixed files.
"""
