"""The program that makes the Python environment of a job on its node (`launch/packages.py`).

In: the name of a file that lists packages. Out: an environment below the job's own directory.
"""
