"""The engines: one scheduler a file, loaded when it is first asked for."""
