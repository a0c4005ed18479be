"""The File service that serves jobs' shares and outputs.

Comes in: a signed request for a share or a file. Goes out: its bytes, never from outside of the share.
"""
