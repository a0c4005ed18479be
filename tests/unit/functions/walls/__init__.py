"""What a caller of one team learns of another team: by each route, and by each road beside them."""
