"""The emulator of Azure Batch: its data plane, on the machines of `local/nodes`.

In: requests of a Batch client. Out: tasks that run as processes on this machine, and their files.
"""
