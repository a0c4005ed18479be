"""Moments as the service wrote them."""

from datetime import datetime


def stamp(moment: datetime) -> str:
    """A moment in UTC on the wire."""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
