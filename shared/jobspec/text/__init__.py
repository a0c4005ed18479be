"""The text of a document: its tree, where everything stands, characters that mislead. Pure."""
