"""Delivery: events and receipts on their way to their receivers.

In: an event of the outbox. Out: signed webhooks, receipts, queue notices; tries and dead letters.
The schedule of tries and its bounds are in `shared/core/notify/schedule.py`.
"""
