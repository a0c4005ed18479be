"""The job files of other systems, as files for here.

In: the bytes of a file. Out: a job.json and what belongs to it, and a note for each member that has no
counterpart, in the order of the file.
"""
