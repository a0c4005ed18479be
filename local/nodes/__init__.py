"""Machines that really run jobs: directories, mounts, processes, containers, GPUs.

In: `Work`, the steps of a job on its machines. Out: an `Outcome`. No documents or states of a
service are known here, so that emulators of several services can stand on it.
"""
