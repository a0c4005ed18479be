"""Clusters that the local stack starts on this machine.

`registry` names them, and a module starts each. In: a folder, the storage, how many nodes. Out:
the cluster that runs, with the settings by which the app finds it.
"""
