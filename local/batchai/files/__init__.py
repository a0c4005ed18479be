"""The File service that serves jobs' shares and outputs."""
