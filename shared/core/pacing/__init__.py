"""Pacing: when to query or try something again. Pure: the time and the random number are passed in.

In: failures, answers and the time. Out: waits, the state of a breaker, and answers that are still valid.
"""
