"""What goes wrong around the page: slow and torn answers, expired tokens, other sites."""
