"""`slipway run`: a script or a folder is sent, and its job followed to its end.

In: a folder or a script, and options. Out: its output, and the exit code of its job.
"""
