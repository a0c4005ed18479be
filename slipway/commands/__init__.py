"""One module for each command that works without a clone.

Comes in: arguments and options from `main`. Goes out: lines for people or JSON, and the exit code.
"""
