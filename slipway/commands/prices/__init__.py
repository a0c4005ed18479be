"""`slipway prices`: what nodes cost today, by Azure's public list.

In: sizes and a region. Out: rows of SLIPWAY_PRICES.
"""
