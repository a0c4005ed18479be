"""From Batch AI's documents to what machines do: environment, volumes, secrets, processes of each toolkit."""
