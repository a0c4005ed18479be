"""The host's workers: processes that run the function app."""
