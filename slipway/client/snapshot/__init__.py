"""A folder as the code of a job: its files, packed into one archive, which is sent once.

In: a folder. Out: the digest by which a job names the archive that the deployment has.
"""
