"""How an engine creates a missing cluster: the plan, and one step for each created thing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Plan:
    """What to create. The defaults are those of the Batch AI workspace script."""

    location: str = "eastus"
    #: of a node; "" for the engine's own choice
    vm_size: str = ""
    priority: str = "lowpriority"
    minimum: int = 0
    maximum: int = 1
    share: str = "logs"
    scripts: str = "scripts"
    data: str = "datalake"
    ssh_key: str = ""
    #: a cluster.json, instead of the description above
    cluster: dict[str, Any] | None = None


@dataclass(frozen=True)
class Step:
    """One thing that exists now."""

    kind: str
    name: str
    created: bool
    #: Why it was not created, if that is left to a person.
    note: str = ""


@dataclass(frozen=True)
class Stage:
    """Steps at one service. Each is executed when it is requested, and may be repeated safely.

    `service` and `setting` are for people: the service that did not answer, and the source of its address.
    """

    service: str
    setting: str
    steps: AsyncIterator[Step]


#: Creates the cluster of that name, with everything that it needs. Raises Misconfigured.
Provision = Callable[[str, Plan], Iterable[Stage]]
