"""A model of slurmctld and its nodes: its promises and, above all, what it may do.

It saves jobs only from time to time. After a kill, it restarts from the saved state: it has forgotten later
jobs, and reuses their numbers. It also forgets finished jobs after a while. Nodes and their file system do
not notice: the claim on an attempt (`shared/engines/node/claim.py`) is part of their model.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.engines.launch.plan import PLAN, SUBMISSION
from tests.crash.invariants.ran_jobs import attempts_of
from tests.doubles.claims import Claims, Earlier

#: The cluster's user in these tests; jobs of other users may do anything, and write no claim.
OURS = "u"
_END_STATES = ("COMPLETED", "CANCELLED", "PREEMPTED", "FAILED", "NODE_FAIL", "BOOT_FAIL")


@dataclass
class Job:
    """A job in the controller's state."""

    id: int
    name: str
    comment: str
    environment: Mapping[str, str]
    submitted: float
    user: str = OURS
    held: bool = False
    description: str = ""
    state: str = "PENDING"
    code: int = 0
    started: float = 0.0
    ended: float = 0.0
    #: why it is pending, in Slurm's words
    reason: str = "None"


@dataclass
class Slurmctld:
    """The controller and its nodes. `clock` gives Unix time; `forgets` is MinJobAge, in seconds."""

    clock: Callable[[], float]
    forgets: float = 300.0
    #: whether idle nodes start a job at the moment of its release
    eager: bool = False
    #: whether copies of an attempt see its claim
    fenced: bool = True
    jobs: dict[int, Job] = field(default_factory=dict)
    last: int = 0
    #: when it was last started, by its own report
    since: float = 0.0
    claims: Claims = field(default_factory=Claims)
    #: names of the jobs that really began, and of those that really ended
    began: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    #: number of the job → its name, on the nodes
    alive: dict[int, str] = field(default_factory=dict)
    #: how many attempts of every job get nodes that do not boot
    unbooted: int = 0
    #: number of a job whose node was given up → steps until its processes end
    cut_off: dict[int, int] = field(default_factory=dict)
    _saved: tuple[dict[int, Job], int] = field(default_factory=lambda: ({}, 0))

    def now(self) -> float:
        return self.clock()

    def submit(
        self, name: str, comment: str, environment: Mapping[str, str], *, held: bool, user: str = OURS
    ) -> int:
        self.last += 1
        self.jobs[self.last] = Job(self.last, name, comment, environment, self.clock(), user, held)
        if self.eager and not held:
            self._start(self.jobs[self.last])
        return self.last

    def release(self, number: int) -> None:
        job = self.jobs[number]
        job.held, job.description = False, ""
        if self.eager:
            self._start(job)

    def cancel(self, number: int) -> None:
        self._end(self.jobs[number], "CANCELLED")

    def save(self) -> None:
        """Save the state, as it does every few seconds."""
        self._saved = copy.deepcopy((self.jobs, self.last))

    def crash(self) -> None:
        """kill -9, and restart from the saved state; the nodes end jobs that are not running in it."""
        self.jobs, self.last = copy.deepcopy(self._saved)
        self.since += 1
        for number in [n for n in self.alive if n not in self.jobs or self.jobs[n].state != "RUNNING"]:
            del self.alive[number]

    def forget_everything(self) -> None:
        """Lose the state; numbers begin again."""
        self._saved = ({}, 0)
        self.crash()

    def advance(self, preempts: Callable[[str], bool]) -> None:
        """Move every job on by one state, and forget those that ended long ago."""
        self.claims.forge(self.alive.values())
        for number in list(self.cut_off):
            self._live_on(number)
        for job in list(self.jobs.values()):
            if job.state == "RUNNING":
                self._end(job, "PREEMPTED" if preempts(job.name) else "COMPLETED")
            elif job.state == "PENDING" and not job.held:
                self._start(job)
            elif job.state in _END_STATES and self.clock() - job.ended > self.forgets:
                del self.jobs[job.id]

    def give_up(self, number: int, lives: int) -> None:
        """A node stops answering; its processes end after so many steps."""
        job = self.jobs[number]
        job.state, job.ended = "NODE_FAIL", self.clock()
        self.cut_off[number] = lives

    def _live_on(self, number: int) -> None:
        self.cut_off[number] -= 1
        if self.cut_off[number] < 0:
            name = self.alive.pop(number, None)
            del self.cut_off[number]
            if name is not None:
                self._finish(name)

    def _finish(self, name: str) -> None:
        self.finished.append(name)
        self.claims.end(name)

    def _start(self, job: Job) -> None:
        if job.state != "PENDING":
            return
        job.started = self.clock()
        if job.user != OURS:
            job.state = "RUNNING"
            return
        if job.name.endswith(tuple(f"-{attempt}" for attempt in range(1, self.unbooted + 1))):
            job.state, job.ended = "BOOT_FAIL", self.clock()
            return
        plan = json.loads(job.environment[PLAN])
        if "attempts" in plan:
            for directory, *_ in plan["attempts"]:
                self.claims.pop(directory.rpartition("/")[2], None)
            job.state, job.ended = "COMPLETED", self.clock()
            return
        code = self._claim(job, plan) if self.fenced else None
        if code is not None:
            job.state, job.code, job.ended = "FAILED" if code else "COMPLETED", code, self.clock()
            return
        if attempts_of(job.name) in map(attempts_of, self.alive.values()):
            self.violations.append(f"{job.name} runs while another run of the job does")
        job.state = "RUNNING"
        self.began.append(job.name)
        self.alive[job.id] = job.name

    def _claim(self, job: Job, plan: Mapping[str, Any]) -> int | None:
        earlier = [Earlier(name, token, reason, keys) for name, token, reason, *keys in plan["earlier"]]
        submission = job.environment[SUBMISSION]
        code = self.claims.take(job.name, plan["token"], submission, plan["proof"], earlier)
        self.alive = {number: one for number, one in self.alive.items() if not self.claims.has_lost(one)}
        return code

    def _end(self, job: Job, state: str) -> None:
        if job.state in _END_STATES:
            return
        running = self.alive.pop(job.id, None)
        job.state, job.ended, job.held = state, self.clock(), False
        if running is not None and state == "COMPLETED":
            self._finish(job.name)


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
        "user_name": job.user,
        "job_state": job.state if old else [job.state],
        "state_description": job.description,
        "state_reason": "JobHeldUser" if job.held else job.reason,
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
