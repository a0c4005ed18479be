"""The objects of an attempt. Pure.

Comes in: a cluster's options and an order. Goes out: a Job, its Secrets and Service, and the programs.
"""
