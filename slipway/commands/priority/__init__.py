"""`slipway priority`: changes which of the jobs that wait are next.

In: a job and a priority. Out: how the job stands.
"""
