"""Problems: their codes, their places, and what certainly mends them. Pure."""
