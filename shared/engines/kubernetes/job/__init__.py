"""The objects of an attempt. Pure.

In: a cluster's options and an order. Out: a Job, its Secrets and Service, and the programs.
"""
