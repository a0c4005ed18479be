"""What the emulator remembers, and how clusters and jobs move."""
