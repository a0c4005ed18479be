"""Problems: their codes, their places, and what certainly mends them. Pure.

In: a code, a place and a sentence. Out: a problem with its remedy, and its fix if there is one.
"""
