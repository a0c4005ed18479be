"""`slipway forward`: ports of a running job on this machine.

In: a job, and its ports. Out: the ports, until the job has ended.
"""
