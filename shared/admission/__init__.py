"""Whether an accepted job may be submitted now, and if not, why it waits.

In: a job, as its row or its record is, and what is known besides. Out: a permit, or the gate that holds it.
"""
