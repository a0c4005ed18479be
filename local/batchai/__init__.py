"""The Batch AI emulator: the 2018-05-01 contract and nodes that run jobs as processes of this machine.

Nothing here depends on the dispatcher: every program that speaks the service's protocol is an equal client.
"""
