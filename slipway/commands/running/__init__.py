"""`slipway run`: uploads files, finds the job that they start, and follows it to its end.

In: a folder or a script, and options. Out: a dropped folder, and the exit code of its job.
"""
