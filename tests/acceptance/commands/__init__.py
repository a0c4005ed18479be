"""Commands as scripts and programs run them."""
