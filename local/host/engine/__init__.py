"""Execution engines: Microsoft's runtime library, and azure-functions' converters for older Pythons."""
