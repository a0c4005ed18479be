"""What a job costs: prices with their sources. Pure.

Comes in: a region, a VM size and a priority. Goes out: the price of an hour of a node, or None.
"""
