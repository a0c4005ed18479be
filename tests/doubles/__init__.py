"""What stands for storage, receivers and a scheduler where a test or a measurement has none."""
