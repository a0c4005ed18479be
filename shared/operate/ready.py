"""ready: whether the dispatcher can work now, and which clusters answer, apart from each other.

Takes bounded time; an answer is reused for a few seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from shared.admission.pauses import paused
from shared.core.errors import Misconfigured, NotFound, SlipwayError, is_answer
from shared.core.ports import Engines, Ports
from shared.core.trouble import Troubles, lately
from shared.operate.drops_on_nodes import drops_on_nodes
from shared.operate.writable import unwritable
from shared.setting_table.functions_off import EXPECTED, NEEDED, SWEEPER

log = logging.getLogger(__name__)

#: What an operator may do about writes that storage refuses while it answers reads.
_READS_ONLY = (
    "give the app's identity the roles of a contributor for blobs, queues and tables, and remove locks; the "
    "log has the reason"
)
_DISABLED = "remove the setting that disables it, which `slipway doctor` and the log name"

#: Seconds for the answers of storage and clusters, and for which an answer is reused.
_PATIENCE, _GOOD = 4.0, 5.0


class NotReady(NamedTuple):
    """What is wrong, and what an operator may do about it."""

    what: str
    remedy: str


@dataclass(frozen=True)
class Ready:
    """What answers, without names and reasons, because the operation needs no key.

    `paused` is not a fault.
    """

    storage: bool
    #: how many of the clusters do what, by the words of health
    clusters: Mapping[str, int]
    paused: bool
    #: the places of storage that refuse writes, where it answers reads
    unwritable: tuple[str, ...] = ()
    #: the functions that the host does not run
    off: tuple[str, ...] = ()
    #: the last pass failed
    sweeper_fails: bool = False
    #: storage, a cluster or the host refuses the configured settings
    settings_wrong: bool = False
    #: rows that cannot be read
    unreadable: int = 0
    #: jobs that wait for the deployment to be corrected
    parked: int = 0

    @property
    def ready(self) -> bool:
        """Whether the app accepts jobs and takes them further. Clusters are told apart from it."""
        return self.storage and not self.unwritable and not self.sweeper_fails and not self._needed

    @property
    def _needed(self) -> list[str]:
        """The functions among those that are off without which no job gets further."""
        return [name for name in NEEDED if name in self.off]

    @property
    def trouble(self) -> NotReady:
        """Why it is not ready."""
        if self.unwritable:
            return NotReady(f"not ready: no write into {', '.join(self.unwritable)}", _READS_ONLY)
        if self._needed:
            return NotReady(f"not ready: the host does not run {' and '.join(self._needed)}", _DISABLED)
        return NotReady("not ready", "ask again in a minute")

    @property
    def words(self) -> dict[str, object]:
        """One word, flag or number for each part, as health shows it."""
        return {
            "storage": "refuses writes" if self.unwritable else _word(self.storage),
            "clusters": dict(self.clusters),
            "paused": self.paused,
            "sweeper": "off" if SWEEPER in self.off else "fails" if self.sweeper_fails else "ok",
            "settings": "wrong" if self.settings_wrong else "ok",
            "unreadable": self.unreadable,
            "parked": self.parked,
            "off": list(self.off),
        }


def _word(answers: bool | None) -> str:
    return "misconfigured" if answers is None else "ok" if answers else "does not answer"


async def ready(ports: Ports) -> Ready:
    """Query storage and every cluster, all at once. Never raises; the log has the reasons."""
    return await ports.memo.get("ready", ports.clock(), _GOOD, lambda: _probe(ports))


async def _probe(ports: Ports) -> Ready:
    clusters = ports.engines.clusters.values()
    storage, *engines = await asyncio.gather(
        _answers(ports.troubles, "storage", _storage(ports)),
        *(
            _answers(ports.troubles, f"cluster {one.name}", _engine(ports.engines, one.engine, one.name))
            for one in clusters
        ),
    )
    refusing = await unwritable(ports) if storage else ()
    stopped = storage and await _answers(ports.troubles, "the pause row", _is_paused(ports))
    for name, why in ports.functions_off.items():
        if name in EXPECTED and ports.troubles.report("settings", f"function {name}", why):
            log.error("not all functions run: %s", why)
    if storage:
        await _report_drops(ports)
    wrong = ports.troubles.counts()
    if storage:
        for kind, number in await _reported(ports):
            wrong[kind] = max(number, wrong.get(kind, 0))
    return Ready(
        bool(storage),
        Counter(map(_word, engines)),
        bool(stopped),
        refusing,
        tuple(ports.functions_off),
        sweeper_fails="sweeper" in wrong,
        settings_wrong="settings" in wrong,
        unreadable=wrong.get("row", 0),
        parked=wrong.get("job", 0),
    )


async def _answers(troubles: Troubles, what: str, question: Awaitable[bool]) -> bool | None:
    """Whether it answers; None if the settings prevent an answer."""
    try:
        async with asyncio.timeout(_PATIENCE):
            answer = await question
        troubles.resolve("settings", what)
        return answer
    except (Misconfigured, NotFound) as error:  # it answers, but lacks what the settings name
        if troubles.report("settings", what, str(error)):
            log.error("not ready: %s: %s", what, error)
        return None
    except (SlipwayError, TimeoutError) as error:
        if is_answer(error):
            log.info("%s answers, but not this: %s", what, error)
            return True
        log.warning("not ready: %s does not answer: %s", what, error or "no answer in time")
    except Exception:  # a defect of one adapter counts as no answer
        log.exception("not ready: %s does not answer", what)
    return False


async def _storage(ports: Ports) -> bool:
    """A table and a container, each by one small request."""
    await asyncio.gather(ports.ledger.get("j_health"), ports.drops.read("slipway-health", limit=0))
    return True


async def _reported(ports: Ports) -> list[tuple[str, int]]:
    """Problems that the last pass found, if that was lately: kinds and numbers."""
    try:
        async with asyncio.timeout(_PATIENCE):
            report = (await ports.ledger.standing()).reported
    except (SlipwayError, TimeoutError) as error:
        log.warning("what the sweeper found is not known: %s", error or "no answer in time")
        return []
    now = ports.clock()
    return [(kind, n) for kind, n in report.counts.items() if lately(kind, report.at, now)] if report else []


async def _report_drops(ports: Ports) -> None:
    """Report the clusters on which teams are not apart, since their nodes have the container of drops."""
    try:
        async with asyncio.timeout(_PATIENCE):
            reached = await drops_on_nodes(ports)
    except (SlipwayError, TimeoutError) as error:
        log.warning(
            "whether nodes have the container of drops is not known: %s", error or "no answer in time"
        )
        return
    for name in ports.engines.clusters:
        if name not in reached:
            ports.troubles.resolve("settings", f"drops on {name}")
        elif ports.troubles.report("settings", f"drops on {name}", reached[name]):
            log.error("teams are not kept apart on the cluster %s: %s", name, reached[name])


async def _engine(engines: Engines, engine: str, cluster: str) -> bool:
    await engines.get(engine).nodes(cluster)
    return True


async def _is_paused(ports: Ports) -> bool:
    return await paused(ports) is not None
