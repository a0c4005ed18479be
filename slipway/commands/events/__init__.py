"""`slipway events`: the events of jobs and their deliveries.

In: a job, an event or a receiver. Out: deliveries, or a new one.
"""
