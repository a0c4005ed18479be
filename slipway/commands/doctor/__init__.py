"""`slipway doctor`: each module checks one area, and finds what works, what does not, and the remedy.

In: settings, and the deployment that they name. Out: findings, each with its remedy.
"""
