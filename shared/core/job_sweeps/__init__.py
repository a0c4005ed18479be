"""The record of a job sweep, and what people see of it.

In: the jobs of one template. Out: which of them have a seat, and how they ended. Pure.
"""
