"""The checks of a job.json: its shape, unknown names, rules, lint; `validate` runs all of them. Pure."""
