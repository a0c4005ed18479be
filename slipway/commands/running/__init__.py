"""`slipway run`: what is uploaded, which job begins by it, and its way to the end.

In: a folder or a script, and options. Out: a dropped folder, and the exit code of its job.
"""
