"""`slipway doctor`: each module looks at one thing, and finds what works, what does not, and the remedy.

Comes in: settings, and the deployment that they name. Goes out: findings, each with its remedy.
"""
