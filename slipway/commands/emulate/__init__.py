"""`slipway emulate`: an emulator by itself.

In: a port and a data directory. Out: a process that runs until Ctrl-C.
"""
