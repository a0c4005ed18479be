"""What a job wrote, in a browser: its logs and its files."""
