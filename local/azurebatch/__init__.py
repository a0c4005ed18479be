"""The emulator of Azure Batch: its data plane, over the machines of `local/nodes`.

Comes in: requests of a Batch client. Goes out: tasks that run as processes of this machine, and their files.
"""
