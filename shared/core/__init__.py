"""Core: the job, its events and records, the errors and the ports. Pure: no I/O, no clock, no SDK.

Comes in: values that others have read. Goes out: decisions and records as values, and the ports.
Every other room stands on this one; it stands on the job file alone.
"""
