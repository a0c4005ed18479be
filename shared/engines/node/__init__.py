"""The program on the nodes of a cluster, for any Python from 3.6 on, sent as one text (`launch/plan.py`).

In: a plan in the environment. Out: the processes of the job, and `result.json` with their end.
Only tests import it here. In these files, an import from this package has to be on one line.
"""
