"""How the app connects to anything: sessions, transports of SDKs, streams. Nothing else opens a connection.

In: an address, and for how long a caller waits. Out: connections whose opening no caller can cancel.
"""
