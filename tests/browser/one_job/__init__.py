"""One job in a browser: what its page answers, and what it asks for."""
