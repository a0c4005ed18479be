"""The dispatcher: domain, use cases, adapters, and the wiring that joins them.

Comes in: the calls of triggers. Goes out: jobs on clusters, records, events and answers.
"""

__version__ = "0.1.0"
