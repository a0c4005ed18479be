"""Pacing: when something is asked or tried again. Pure: the time and the random number are passed in.

In: failures, answers and the time. Out: waits, whether a breaker is open, and answers still good.
"""
