"""The `slipway` command, which people install.

`commands` has one module for each command, `client` talks to the HTTP API, `stack` starts the local stack.
"""
