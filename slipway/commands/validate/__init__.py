"""`slipway validate`: the problems of job files.

In: paths of files, and which checks to leave out. Out: problems, fixed files.
"""
