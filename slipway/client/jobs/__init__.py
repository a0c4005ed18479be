"""What jobs and sweeps are called, how they go, and what they print and report.

In: a job as a person names it. Out: its id, its news, its lines and curves.
"""
