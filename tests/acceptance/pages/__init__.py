"""Pages of the documentation whose every command is run."""
