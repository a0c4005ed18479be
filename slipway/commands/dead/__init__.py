"""`slipway dead`: the letters that no door or receiver took.

In: their ids. Out: a list of them with reasons, or a new try of each.
"""
