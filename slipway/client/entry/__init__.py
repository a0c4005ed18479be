"""Enters running jobs: from the coordinates that the API answers to a person's own tool."""
