"""A node of a cluster as one process: its pods are processes here, in namespaces of their own.

What Kubernetes sees is a node: a Node with a Lease, pods with their states, exit codes and logs, commands
that run in them, and their ports. The image of every container is this machine: the same programs and files,
with the pod's volumes at their places. It ends with the node, as on a machine without power.

In: pods that the scheduler has given to the node. Out: what became of them.
"""
