"""An API server on the wire, with its controllers, nodes and processes; checked against recordings.

In: requests of the engine under test, and a test's changes to nodes and quotas. Out: answers of
Kubernetes 1.36 with Kueue, or of 1.20, and pods as processes on this machine.
"""
