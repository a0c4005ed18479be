"""The REST API of one Batch account, api-version 2024-07-01.20.0.

In: paths and bodies. Out: parsed answers, and errors in Slipway's classes.
"""
