"""One module for each command that works without a clone.

In: arguments and options from `main`. Out: lines for people or JSON, and the exit code.
"""
