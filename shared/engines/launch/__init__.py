"""Launch: the commands that each toolkit of a job file becomes. Pure."""
