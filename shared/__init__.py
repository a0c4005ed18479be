"""The dispatcher: domain, use cases, adapters, and the wiring that joins them.

In: the calls of triggers. Out: jobs on clusters, records, events and answers.
"""

__version__ = "0.1.0"
