"""Delivery: events and receipts on their way to the people who asked.

Comes in: an event of the outbox. Goes out: signed webhooks, receipts, queue notices; tries and dead letters.
"""
