"""Jobs that want more than is theirs: what they forge, and how they look into others."""
