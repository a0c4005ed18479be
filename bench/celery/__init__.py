"""The same jobs by Celery, as a peer."""
