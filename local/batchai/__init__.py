"""The Batch AI emulator: the 2018-05-01 contract and nodes that run jobs as processes of this machine.

Nothing here knows the dispatcher: whoever speaks the service's protocol is a client like any other.
"""
