"""Batch AI: the engine over its ARM API, served by the emulator."""
