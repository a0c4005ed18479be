"""`slipway preempt`: a low-priority node of the emulator is taken away.

In: a node. Out: the nodes, or the one that was preempted.
"""
