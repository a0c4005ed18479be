"""Core: the job, its events and records, the errors and the ports. Pure: no I/O, no clock, no SDK.

In: values that others have read. Out: decisions and records as values, and the ports.
Every other room depends on this one; it depends only on the job file.
"""
