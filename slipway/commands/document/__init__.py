"""Commands about documents: validate, and what it needs.

Comes in: paths of files, and which checks to leave out. Goes out: problems, fixed files.
"""
