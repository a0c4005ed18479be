"""`slipway completion`: the script with which a shell completes these commands.

In: a shell. Out: its script.
"""
