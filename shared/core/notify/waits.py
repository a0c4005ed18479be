"""The waits between the tries of an event: those that no one sets, and which ones may be set. Constants."""

#: The example schedule of Standard Webhooks 1.0.0, as the setting is written.
USUAL = "5s,5m,30m,2h,5h,10h,14h,20h,24h"
#: A tighter limit than any row or queue has: a longer schedule is a typing error.
MOST = 50
#: Of one wait, in seconds: from a second to 30 days.
SHORTEST, LONGEST = 1.0, 30 * 86_400.0
