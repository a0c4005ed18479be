"""Teams that share a cluster: a simulation of their jobs."""
