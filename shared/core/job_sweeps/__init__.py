"""The record of a job sweep, and its views for people.

In: the jobs of one template. Out: which of them have a seat, and how they ended. Pure.
"""
