"""The local stack: everything for running Slipway on one machine. Never deployed.

`host` fires the triggers, `clusters` names the clusters that can run jobs, `nodes` runs those of the
emulator, `setup`
installs, `bicep` checks the templates of `infra/`; `stack` starts all of it. Nothing here imports `shared`
or `functions`: it knows the wire only.

In: a folder and options. Out: running processes, their addresses, and the settings that name them.
"""
