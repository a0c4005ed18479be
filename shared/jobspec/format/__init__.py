"""The format of a job.json: models, limits, toolkits, mounts, scripts and secrets. Pure."""
