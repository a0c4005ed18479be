"""The File service that serves jobs' shares and outputs.

In: a signed request for a share or a file. Out: its bytes, never from outside of the share.
"""
