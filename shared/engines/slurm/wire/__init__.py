"""slurmrestd: the client and its dialects."""
