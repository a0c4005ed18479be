"""What has to hold in every run of the harness, by what it is of."""
