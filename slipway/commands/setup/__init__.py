"""`slipway setup`: the resources that a deployment lacks.

In: settings, and a plan of a cluster. Out: calls of `slipway.stack`, which a clone has.
"""
