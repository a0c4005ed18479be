"""`slipway data`: files for jobs, in the container that clusters mount.

In: files and folders, or names in the container. Out: the files that were missing, and a summary.
"""
