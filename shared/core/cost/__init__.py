"""What a job costs: prices with their sources. Pure.

In: a region, a VM size and a priority. Out: the price of an hour of a node, or None.
"""
