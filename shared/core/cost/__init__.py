"""What a job costs: prices with their sources. Pure."""
