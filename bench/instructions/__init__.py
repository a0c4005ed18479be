"""What a job costs in exact counts, the same at any load of the machine.

`python -m bench.instructions` counts instructions and calls of the worker's own code, and rows and bytes that
it writes.
"""
