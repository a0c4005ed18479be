"""The chaos run: the real system in many processes, under kills and faults, and a checker of what is left."""
