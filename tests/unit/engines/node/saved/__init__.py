"""What jobs save on nodes that share no disk."""
