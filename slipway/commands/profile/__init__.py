"""The deployments that a person works with: log in, log out."""
