"""`slipway doctor`: each module checks one area, and finds what works, what does not, and the remedy.

Comes in: settings, and the deployment that they name. Goes out: findings, each with its remedy.
"""
