"""The input of every trigger."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from local.host.hostjson import HostJson
from local.host.invoker import Invoker
from local.host.storage import Accounts
from local.host.times import Times
from local.host.wakeups import Wakeups


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The host's parts that triggers use; `id` is the host id of locks, receipts and timers.

    `ended` is set by a listener whose failure ends the host.
    """

    id: str
    settings: Mapping[str, str]
    host: HostJson
    accounts: Accounts
    wakeups: Wakeups
    invoker: Invoker
    times: Times
    ended: asyncio.Event
