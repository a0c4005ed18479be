"""The nodes' ssh servers: a login to a node is a process of the job that runs there.

In: the nodes, with the accounts of their clusters. Out: shells, commands, ports and files of their jobs.
"""
