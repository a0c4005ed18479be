"""`slipway run`: what is uploaded, which job begins by it, and its way to the end.

Comes in: a folder or a script, and options. Goes out: a dropped folder, and the exit code of its job.
"""
