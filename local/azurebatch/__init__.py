"""The emulator of Azure Batch: its data plane, on the machines of `local/nodes`.

Comes in: requests of a Batch client. Goes out: tasks that run as processes on this machine, and their files.
"""
