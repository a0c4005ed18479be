"""Problems: their codes, their places, and what certainly mends them. Pure.

Comes in: a code, a place and a sentence. Goes out: a problem with its remedy, and its fix if there is one.
"""
