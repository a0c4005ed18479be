"""pauses: an operator stops submissions, by the setting or in the ledger, and lets them go on."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from shared.core.job import plain
from shared.core.ledger.entries import Pause, Standing
from shared.core.ledger.ledger import Ledger
from shared.core.ports import Ports

log = logging.getLogger(__name__)

_PAUSED, _STANDING = "paused", "standing"
_SETTING = "the setting SLIPWAY_PAUSED"
#: Seconds for which an answer of the ledger is good.
_GOOD = 5.0


async def paused(ports: Ports) -> Pause | None:
    """Who paused submissions, by the setting or in the ledger; None while they go on."""
    if ports.policy.paused:
        return Pause(ports.clock(), _SETTING)
    current = await ports.memo.get_or_last(_PAUSED, ports.clock(), _GOOD, partial(_ask, ports.ledger))
    return current.pause


async def standing(ports: Ports) -> Standing:
    """What holds for many jobs at once, as it was some seconds ago. Raises SlipwayError."""
    orders = await ports.memo.get_or_last(_STANDING, ports.clock(), _GOOD, ports.ledger.standing)
    if ports.policy.paused:
        return replace(orders, pause=Pause(ports.clock(), _SETTING))
    return orders


class _Paused(NamedTuple):
    """Who paused submissions in the ledger; None while they go on."""

    pause: Pause | None


async def _ask(ledger: Ledger) -> _Paused:
    return _Paused(await ledger.paused())


async def pause(ports: Ports, by: str, reason: str) -> Pause:
    """Stop submissions everywhere within seconds; acceptance goes on."""
    own = Pause(ports.clock(), plain(by, 100), plain(reason, 200))
    await ports.ledger.pause(own)
    ports.memo.forget(_PAUSED)
    ports.memo.forget(_STANDING)
    log.warning("submissions are paused by %s: %s", own.by, own.reason)
    return own


async def resume(ports: Ports, by: str) -> Pause | None:
    """Let submissions go on; a pause by the setting stays in force, and is returned."""
    await ports.ledger.pause(None)
    ports.memo.forget(_PAUSED)
    ports.memo.forget(_STANDING)
    log.warning("submissions are resumed by %s", plain(by, 100))
    return await paused(ports)
