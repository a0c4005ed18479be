"""An API server at the wire, with the controllers, nodes and processes behind it, held to recordings.

In: requests of the engine under test, and what a test does to nodes and quotas. Out: answers of
Kubernetes 1.36 with Kueue, or of 1.20, and pods that are processes of this machine.
"""
