"""`slipway pause` and `slipway resume`: whether accepted jobs are submitted.

In: a reason. Out: the state of the switch.
"""
