"""The record of a job sweep, and what people see of it.

Comes in: the jobs of one template. Goes out: which of them have a seat, and how they ended. Pure.
"""
