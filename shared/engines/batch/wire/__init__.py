"""The REST API of one Batch account, api-version 2025-06-01.

In: paths and bodies. Out: parsed answers, and errors in Slipway's classes.
"""
