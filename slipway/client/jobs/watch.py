"""watch: reports what happens to jobs and nodes as it happens, from the API alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from slipway.client.calls.refusal import Absent, Unanswered
from slipway.client.jobs.processes import ProcessLog, are_several, last_state, logs_of
from slipway.client.jobs.words import ENDED
from slipway.client.service import Service
from slipway.failure import Failure
from slipway.terminal.characters import harmless
from slipway.terminal.screen import Line

if TYPE_CHECKING:
    from slipway.client import shapes

#: States in which the log may grow.
_HAS_LOG = frozenset({"running", "succeeded", "failed", "cancelled"})
_STYLES = {"succeeded": "green", "running": "cyan", "queued": "", "accepted": "", "submitting": ""}
#: Every this many polls, the logs are read.
_LOG_EVERY = 3


@dataclass
class _Log:
    offset: int = 0
    rest: bytes = b""
    done: bool = False


@dataclass
class Watch:
    """Polls, and reports changes since the last poll."""

    service: Service
    say: Callable[[Line], None]
    jobs: dict[str, shapes.JobDetail] = field(default_factory=dict)
    #: The most nodes that any cluster was seen with.
    peak: int = 0
    nodes: int = 0
    looks: int = 0
    _clusters: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _lines: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    #: the jobs whose logs have been read to the end
    _whole: set[str] = field(default_factory=set)
    #: offsets by job and file
    _logs: dict[tuple[str, str], _Log] = field(default_factory=dict)

    def progress(self) -> object:
        """A value that changes when something happens."""
        states = [(name, job["state"], len(job.get("history", ()))) for name, job in self.jobs.items()]
        return states, self.nodes, [log.offset for log in self._logs.values()]

    async def poll(self) -> None:
        """Ask once for clusters and jobs, and show what is new. Raises Failure."""
        self.looks += 1
        for cluster in await self.service.clusters():
            self._tell(cluster_news(self._clusters.get(cluster["name"]), cluster))
            self._clusters[cluster["name"]] = cluster
        self.nodes = sum(cluster.get("nodes", 0) for cluster in self._clusters.values())
        self.peak = max(self.peak, self.nodes)
        for line in reversed((await self.service.jobs()).jobs):
            before = self.jobs.get(line["id"])
            # A list has no history: it is read when something changed.
            job = before if before and line == self._lines[line["id"]] else await self.service.job(line["id"])
            self._lines[job["id"]], self.jobs[job["id"]] = line, job
            news = job_news(before, job)
            if job["state"] in ENDED:  # what it wrote comes before its end
                await self._read(job)
                self._tell(news)
            else:
                self._tell(news)
                if self.looks % _LOG_EVERY == 0:
                    await self._read(job)

    async def _read(self, job: Mapping[str, Any]) -> None:
        """The new lines of every process, of both streams."""
        if job["state"] not in _HAS_LOG or job["id"] in self._whole:
            return
        try:
            logs = await logs_of(self.service, job, "", "")
        except (Absent, Unanswered):  # at the next poll it may exist
            return
        for log in logs:
            await self._read_one(job, log, log.rank * are_several(logs))
        if job["state"] in ENDED and all(self._logs[job["id"], log.name].done for log in logs):
            self._whole.add(job["id"])

    async def _read_one(self, job: Mapping[str, Any], process: ProcessLog, rank: str) -> None:
        log = self._logs.setdefault((job["id"], process.name), _Log())
        if log.done or (log.offset >= process.size and job["state"] not in ENDED):
            return
        is_error = process.stream == "stderr"
        try:
            while (chunk := await self.service.log(job["id"], log.offset, process.name)).data:
                *lines, log.rest = (log.rest + chunk.data).split(b"\n")
                log.rest, log.offset = last_state(log.rest), chunk.next
                self._tell(log_news(job, lines, rank, is_error=is_error))
        except Unanswered:
            return
        except Failure:  # a job that ended before it wrote anything has no log
            log.done = job["state"] in ENDED
            return
        log.done = not chunk.more
        if log.done and log.rest:
            self._tell(log_news(job, [log.rest], rank, is_error=is_error))

    def _tell(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self.say(line)


def new_entries(before: Mapping[str, Any] | None, job: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The entries that a job's history has gained since the last poll: several for a short job."""
    last = before["history"][-1]["sequence"] if before and before["history"] else 0
    return [entry for entry in job["history"] if entry["sequence"] > last]


def job_news(before: Mapping[str, Any] | None, job: Mapping[str, Any]) -> list[Line]:
    """Lines for people: the states that a job has reached since the last poll."""
    entries = new_entries(before, job)
    lines, state = [], before["state"] if before else None
    for entry in entries:
        text = entry["state"]
        if text == state == "running" and "note" in entry:  # such as why its nodes are kept
            text += f": {entry['note']}"
        state = entry["state"]
        if entry is entries[-1] and entry["state"] in ENDED and entry["state"] != "succeeded":
            text += f": {job['message']}" if job.get("message") else ""
        lines.append(Line(who(job), text, _STYLES.get(entry["state"], "red")))
    return lines


def cluster_news(before: Mapping[str, Any] | None, cluster: Mapping[str, Any]) -> list[Line]:
    """A line on the nodes and their states, if they changed."""
    if "error" in cluster:
        text = f"cannot be queried: {cluster['error']}"
        return [] if before == cluster else [Line(cluster["name"], text, "red")]
    last = before if before and "error" not in before else None
    had = last["nodes"] if last else None
    busy = _busy(cluster)
    count = cluster["nodes"]
    if last and had == count and busy == _busy(last):
        return []
    moved = f"{had} → {count}" if had not in (None, count) else str(count)
    doing = ", ".join(f"{number} {state}" for state, number in busy.items())
    text = f"{moved} node{'' if count == 1 else 's'}" + (f": {doing}" if doing else "")
    return [Line(cluster["name"], text, "magenta")]


def log_news(
    job: Mapping[str, Any], lines: Sequence[bytes], rank: str = "", *, is_error: bool = False
) -> list[Line]:
    """The nonempty lines that a process of a job wrote; with its rank if there are several."""
    head = f"{rank} {'!' if is_error else '│'}".lstrip()
    texts = (harmless(last_state(line).decode("utf-8", "replace"), colour=False) for line in lines)
    return [Line(who(job), f"{head} {text}", "dim") for text in texts if text.strip()]


def who(job: Mapping[str, Any]) -> str:
    """The door and the name."""
    return f"{job['door']:<5} {job['name']}"


def _busy(cluster: Mapping[str, Any]) -> dict[str, int]:
    return {state: number for state, number in cluster["counts"].items() if number}
