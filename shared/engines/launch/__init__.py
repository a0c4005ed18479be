"""Launch: turns each toolkit of a job file into commands. Pure.

In: a completed job and a `Site`, which describes the scheduler. Out: the plan for the program on
the nodes, and its environment.
"""
