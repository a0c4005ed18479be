"""The documents of a job on this machine: checked, made or completed before they are sent.

In: a script, a folder or a file, and choices. Out: a message and the files that are its code.
"""
