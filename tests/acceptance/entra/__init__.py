"""A deployment that asks for tokens of Entra: who may do what, and how a program signs in."""
