"""The archive in which a job's code travels: one tar of a folder, named by the SHA-256 of its bytes.

In: files, links and empty folders, by their paths. Out: the archive and its digest; and the members of
any archive, as data.
"""
