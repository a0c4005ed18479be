"""What operators act on: conditions of the deployment, and the events of their beginning and end.

In: what a pass found. Out: events in the outbox, for the channels that the settings mark for operators.
"""
