"""Problems: their codes, their places, and their certain fixes. Pure.

In: a code, a place and a sentence. Out: a problem with its remedy, and its fix if there is one.
"""
