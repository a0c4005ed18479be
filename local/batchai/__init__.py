"""The Batch AI emulator: the 2018-05-01 contract and nodes that run jobs as processes of this machine.

In: requests of the API. Out: its answers, and `Work` for `local.nodes`. Nothing here depends on
the dispatcher: every program that uses the service's protocol is an equal client.
"""
