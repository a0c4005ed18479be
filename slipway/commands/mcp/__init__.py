"""`slipway mcp`: the commands of the skill as tools of the Model Context Protocol.

In: calls of a client, over standard input. Out: what a command prints with `--json`, marked as data and
bounded, or its error. The package `mcp` is an extra: nothing else imports this.
"""
