"""Event files of jobs (TensorBoard), kept on this disk as the jobs write them.

In: jobs, and a directory. Out: files that only grow, so that who has one open sees every point.
"""
