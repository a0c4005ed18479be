"""Machines that really run jobs: directories, mounts, processes, containers, GPUs.

In: `Work`, the steps of a job on its machines. Out: an `Outcome`. This package knows no
documents or states of a service, so emulators of several services can use it.
"""
