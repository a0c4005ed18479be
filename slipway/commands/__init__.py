"""A file, or a room, for each command: its options, and beside them its code.

In: arguments and options from `main`. Out: lines for people or JSON, and the exit code.
"""
