"""Jobs on Kubernetes, as Indexed Jobs of batch/v1; not yet among the engines of the registry.

Comes in: attempts. Goes out: Jobs and what belongs to them, and what the cluster says of them, in our words.
"""
