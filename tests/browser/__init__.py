"""The page in Debian's Chromium, against the real local stack; what jobs wrote is hostile there, too."""
