"""Pacing: when something is asked or tried again. Pure: the time and the random number are passed in.

Comes in: failures, answers and the time. Goes out: waits, whether a breaker is open, and answers still good.
"""
