"""Events and their receivers: the bytes, the schedule of tries, the gate of addresses. Pure.

In: a change of a job. Out: an event with its deliveries, and when each is due.
"""
