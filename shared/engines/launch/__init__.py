"""Launch: the commands that each toolkit of a job file becomes. Pure.

Comes in: a completed job and a `Site`, which describes the scheduler. Goes out: the plan for the program on
the nodes, and its environment.
"""
