"""`slipway doctor --live`, and GPU quotas: checks a deployment by Azure Resource Manager and a tiny job.

Comes in: the environment of azd. Goes out: a finding for each point of docs/how-to/first-live-run.md.
"""
