"""`slipway files`: the names of the files that a job wrote.

In: a job, and a folder of its output. Out: a line for each file.
"""
