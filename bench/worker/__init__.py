"""One worker: what it does and needs with several invocations at once."""
