"""Jobs on Kubernetes, as Indexed Jobs of batch/v1.

In: attempts. Out: Jobs and the objects that belong to them, and the cluster's reports in Slipway's
terms.
"""
