"""Events and who receives them: their bytes, the schedule of tries, the gate of addresses. Pure.

Comes in: a change of a job. Goes out: an event with its deliveries, and when each is due.
"""
