"""A model of slurmctld and of the nodes behind it: what it promises, and above all what it does not.

Jobs are on its disk only now and then. Killed, it comes back with what was saved: later jobs are forgotten,
and their numbers given to others. Finished ones are forgotten as well, after a while. Nodes and their file
system know nothing of that: the claim on an attempt (`shared/engines/node/claim.py`) is modelled with them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.engines.launch import PLAN, SUBMISSION

_OVER = ("COMPLETED", "CANCELLED", "PREEMPTED", "FAILED")


@dataclass
class Job:
    """A job as the controller has it."""

    id: int
    name: str
    comment: str
    environment: Mapping[str, str]
    submitted: float
    held: bool = False
    state: str = "PENDING"
    code: int = 0
    started: float = 0.0
    ended: float = 0.0


@dataclass
class Claim:
    """What the file system of the nodes remembers of an attempt."""

    token: str
    submission: str
    ended: bool = False


@dataclass
class Slurmctld:
    """The controller and its nodes. `clock` gives Unix time; `forgets` is MinJobAge, in seconds."""

    clock: Callable[[], float]
    forgets: float = 300.0
    #: whether idle nodes start a job in the moment of its release
    eager: bool = False
    #: whether copies of an attempt find its claim
    fenced: bool = True
    jobs: dict[int, Job] = field(default_factory=dict)
    last: int = 0
    claims: dict[str, Claim] = field(default_factory=dict)
    #: name of every job that really began, and that really ended
    began: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    #: number of the job → its name, on the nodes
    alive: dict[int, str] = field(default_factory=dict)
    _saved: tuple[dict[int, Job], int] = field(default_factory=lambda: ({}, 0))

    def now(self) -> float:
        """Unix time."""
        return self.clock()

    def submit(self, name: str, comment: str, environment: Mapping[str, str], *, held: bool) -> int:
        """A new job."""
        self.last += 1
        self.jobs[self.last] = Job(self.last, name, comment, environment, self.clock(), held)
        if self.eager and not held:
            self._start(self.jobs[self.last])
        return self.last

    def release(self, number: int) -> None:
        """No longer held."""
        job = self.jobs[number]
        job.held = False
        if self.eager:
            self._start(job)

    def cancel(self, number: int) -> None:
        """End it."""
        self._end(self.jobs[number], "CANCELLED")

    def save(self) -> None:
        """What it does every few seconds."""
        self._saved = copy.deepcopy((self.jobs, self.last))

    def crash(self) -> None:
        """kill -9, and back on what was saved; what it does not know to be running is ended on the nodes."""
        self.jobs, self.last = copy.deepcopy(self._saved)
        for number in [n for n in self.alive if n not in self.jobs or self.jobs[n].state != "RUNNING"]:
            del self.alive[number]

    def advance(self, preempts: Callable[[str], bool]) -> None:
        """Every job moves on by one state, and what is over for long is forgotten."""
        for job in list(self.jobs.values()):
            if job.state == "RUNNING":
                self._end(job, "PREEMPTED" if preempts(job.name) else "COMPLETED")
            elif job.state == "PENDING" and not job.held:
                self._start(job)
            elif job.state in _OVER and self.clock() - job.ended > self.forgets:
                del self.jobs[job.id]

    def _start(self, job: Job) -> None:
        if job.state != "PENDING":
            return
        job.started = self.clock()
        submission = job.environment[SUBMISSION]
        token = json.loads(job.environment[PLAN])["token"]
        claim = self.claims.setdefault(job.name, Claim(token, submission)) if self.fenced else None
        if claim is not None and claim.ended:
            job.state, job.ended = "COMPLETED", self.clock()
            return
        if claim is not None and claim.submission != submission:
            job.state, job.code, job.ended = "FAILED", 253, self.clock()
            return
        if job.name in self.alive.values():
            self.violations.append(f"{job.name} runs twice at once")
        job.state = "RUNNING"
        self.began.append(job.name)
        self.alive[job.id] = job.name

    def _end(self, job: Job, state: str) -> None:
        if job.state in _OVER:
            return
        running = self.alive.pop(job.id, None)
        job.state, job.ended, job.held = state, self.clock(), False
        if running is not None and state == "COMPLETED":
            self.finished.append(job.name)
            if job.name in self.claims:
                self.claims[job.name].ended = True


def shown(job: Job, *, old: bool) -> dict[str, Any]:
    """A job as slurmrestd lists it, in v0.0.38 or in a newer dialect."""
    number: Callable[[float], Any] = int if old else _number
    code: Any = job.code << 8
    if not old:
        code = {"status": ["SUCCESS"], "return_code": _number(job.code), "signal": {"id": _number(0)}}
    return {
        "job_id": job.id,
        "name": job.name,
        "comment": job.comment,
        "job_state": job.state if old else [job.state],
        "state_reason": "JobHeldUser" if job.held else "None",
        "priority": number(0 if job.held else 4294901759),
        "submit_time": number(job.submitted),
        "start_time": number(job.started),
        "end_time": number(job.ended),
        "restart_cnt": 0 if old else _number(0),
        "exit_code": code,
        "nodes": "",
    }


def _number(value: float) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": int(value)}
