"""The Slurm engine: `engine` is the port, `attempts` how a job is submitted without a doubt."""
