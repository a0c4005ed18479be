"""The local stack: everything that a person needs to run Slipway on one machine. Never deployed."""
