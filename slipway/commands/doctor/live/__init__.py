"""`slipway doctor --live`, and GPU quotas: what Azure Resource Manager and a tiny job say of a deployment.

Comes in: the environment that azd keeps. Goes out: a finding for each point of docs/how-to/first-live-run.md.
"""
