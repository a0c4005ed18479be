"""`slipway ssh-config`: a host of ssh that is a running job.

In: a job. Out: a file for ssh, and the line that includes it.
"""
