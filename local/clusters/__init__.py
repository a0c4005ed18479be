"""Clusters that the local stack starts on this machine.

`registry` names them, and a module starts each. Comes in: a folder, the storage, how many nodes. Goes out:
the cluster that runs, with the settings by which the app finds it.
"""
