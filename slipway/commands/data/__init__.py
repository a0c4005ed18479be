"""`slipway data`: files for jobs, in the container that clusters mount.

Comes in: files and folders, or names in the container. Goes out: the files that were missing, and a summary.
"""
