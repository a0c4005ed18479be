"""The bounds of the waits between the tries of an event, for the schedule and for the table of settings."""

#: A tighter limit than any row or queue has: a longer schedule is a typing error.
MOST = 50
#: Of one wait, in seconds: from a second to 30 days.
SHORTEST, LONGEST = 1.0, 30 * 86_400.0
