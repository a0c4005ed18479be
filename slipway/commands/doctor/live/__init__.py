"""`slipway doctor --live`, and GPU quotas: checks a deployment by Azure Resource Manager and a tiny job.

In: the environment of azd. Out: a finding for each point of docs/how-to/first-live-run.md.
"""
