"""Core: the job, its events and records, the errors and the ports. Pure: no I/O, no clock, no SDK.

In: values that others have read. Out: decisions and records as values, and the ports.
Every other room stands on this one; it stands on the job file alone.
"""
