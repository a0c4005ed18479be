"""What jobs wrote: logs, lists of files, and files."""
