"""An image that cannot be fetched: its pod holds a node and its GPUs meanwhile. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from shared.engines import untrusted
from shared.engines.kubernetes.translation.conditions import condition
from shared.engines.kubernetes.translation.wait_reasons import pods_wait

#: How long a pod may hold its node without its image: a registry may be away for a while.
_LONGEST = timedelta(minutes=30)
_WORDS = frozenset({"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"})


def without_image(pods: Sequence[Mapping[str, Any]], now: datetime) -> str:
    """Why an attempt is given up whose image could not be fetched for so long; "" for any other."""
    for pod in pods:
        why, placed = pods_wait([pod]), condition(pod, "PodScheduled")
        since = untrusted.moment((placed or {}).get("lastTransitionTime"))
        if why is not None and why.word in _WORDS and since is not None and now - since > _LONGEST:
            minutes = int(_LONGEST / timedelta(minutes=1))
            return f"given up after {minutes} minutes on its node: {why.text}"
    return ""
