"""One run of an attempt, on the nodes that a scheduler gave it. It starts on the first of them.

Follows the plan in SLIPWAY_PLAN, which `launch/plan.py` makes: claim the attempt, make the directories, make
every node ready, prepare it, start the toolkit, keep the time, write `result.json`. Every command of the plan
is a list of words; what a person wrote meets a shell only as the job's own command.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Dict, List, Optional

from shared.engines.node.blobs import store_of
from shared.engines.node.claim import WATCH, Claim, Silent
from shared.engines.node.ends import DISPLACED, NO_PROGRAM, NOT_PREPARED, NOT_READY, TIMEOUT, End, asked_end
from shared.engines.node.families import Ending
from shared.engines.node.files import CLOSED, PRIVATE, Displaced, expand, open_end, stamp
from shared.engines.node.held.hold import held, keep_nodes, kept_until
from shared.engines.node.mounting import bring_code, check_programs, mount, why_not_ready
from shared.engines.node.private import close_output, take
from shared.engines.node.processes import (
    Failed,
    chosen,
    clear,
    define,
    plan_of,
    printed,
    run_all,
    wait_until_ready,
)
from shared.engines.node.uploads import bring, places, restore, separate

#: The exit code of a killed process, also if a shell or a launcher reports it; and the usual cause.
KILLED, MEMORY = 137, "usually because it used more memory than there is"
#: Seconds after its time limit, after which nothing but files of a run can be left on a node.
ENDED_AFTER = 86_400.0


class Run:
    """One run of the plan."""

    def __init__(self, plan: Dict[str, Any], claim: Claim) -> None:
        self._plan, self._claim = plan, claim
        self._until, self._looked, self._started = time.time() + plan["seconds"], time.time(), stamp()
        self._env: Dict[str, str] = dict(os.environ)
        self._own: Dict[str, str] = {}
        self._hosts: List[str] = []
        self._directories: Dict[str, str] = {}
        self._links: List[List[str]] = []
        self._ending = Ending(plan["grace"], partial(clear, plan["askFar"], self._env))
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: Any) -> None:
        self._ending.is_asked, self._ending.is_sent = True, self._plan["asksAll"]

    def execute(self) -> int:
        """Execute the whole run and return its exit code. Raises Silent when another run has taken over."""
        try:
            end = self._execute()
        except End as ending:
            end = ending
        except (OSError, subprocess.SubprocessError) as error:
            # A node that goes down also asks the processes of a step to end; then they have not failed.
            end = asked_end() if self._ending.is_asked else End(NOT_READY, "infrastructure", str(error))
        self._log(end.message)
        is_recorded = self._hold(end)
        clear(self._plan["ending"], self._env)  # what a job saves in its container is uploaded, too
        is_kept = self._bring(end)
        if not is_recorded:
            self._record(end)
        return self._close(end, is_kept)

    def _hold(self, end: End) -> bool:
        """Keep the nodes of a job that failed by its own fault; whether its end is recorded by that."""
        until = 0.0 if self._ending.is_asked else kept_until(self._plan, end, self._until)
        if not until:
            return False
        self._bring(end)
        self._log(f"exit code {end.code}; kept until {stamp(until)}")
        self._record(end, until)
        self._claim.announce(self._plan["ends"])
        directory = self._directories["stdouterr"]
        keep_nodes(self._plan, self._env, self._own, directory, until, self._ending, self._claim)
        return True

    def _bring(self, end: End) -> bool:
        return bring(self._plan, self._env, self._directories.get("stdouterr", ""), self._claim, end)

    def answer(self, record: Dict[str, Any]) -> int:
        """End with the result and the exit code of an earlier attempt, and run nothing."""
        self._claim.record(record)
        return self._close(End(int(record.get("code", 0)), "", ""))

    def _close(self, end: End, is_kept: bool = False) -> int:
        clear(self._plan["cleanup"] + (self._plan["uploads"]["remove"] if is_kept else []), self._env)
        self._claim.announce(self._plan["ends"])  # last: the scheduler acts on our exit
        return end.code

    def _execute(self) -> End:
        self._find_hosts()
        self._make_environment()
        self._record(None)
        self._step("setup", NOT_READY, "infrastructure", "A node could not be made ready")
        self._step("image", NOT_READY, "infrastructure", "Its image cannot be run on a node")
        for at, _, label in self._links:
            self._log(f"Mounted {label} at $AZ_BATCHAI_JOB_MOUNT_ROOT/{at}")
        bring_code(self._plan, self._env, self._check_outside)
        logs, run = self._directories["stdouterr"], self._claim.number
        restore(self._plan, self._env, logs, run, self._check_outside)
        if self._plan["preparation"]:
            for host in self._hosts:
                self._log(f"Executing 'job environment preparation' on {host}", host)
            text = "Job preparation task failed with non-zero exit code"
            self._step("preparation", NOT_PREPARED, "preparation", text)
        self._log(f"Starting the job on {', '.join(self._hosts)}")
        self._step("main", 0, "user", "Job failed with non-zero exit code")
        return End(0, "", "All processes ended with exit code 0")

    def _find_hosts(self) -> None:
        check_programs(self._plan["programs"], self._env)
        wait_until_ready(self._plan["ready"], self._check_outside)
        env = self._env
        self._hosts = printed(self._plan["hosts"], "The nodes of the job cannot be listed").split()
        for name in self._plan["hidden"]:
            env.pop(name, None)
        env.update((f"SLIPWAY_HOST_{number}", host) for number, host in enumerate(self._hosts))
        env["SLIPWAY_HOSTS"], env["SLIPWAY_RUN"] = ",".join(self._hosts), self._claim.run
        env["SLIPWAY_LOG"] = "execution.log" if len(self._hosts) == 1 else f"execution-{self._hosts[0]}.log"
        env.setdefault("HOME", str(Path.home()))

    def _make_environment(self) -> None:
        """Set the variables in order, as each may use those before it, and make the directories."""
        env = self._env
        define(self._plan["system"], env)
        env["SLIPWAY_TEMP"] = env["AZ_BATCHAI_JOB_TEMP"]
        env["SLIPWAY_UNTIL"], env["SLIPWAY_OVER"] = str(int(self._until)), str(int(time.time() - ENDED_AFTER))
        env["SLIPWAY_WORK"] = env["AZ_BATCHAI_JOB_TEMP"] + "/wd"
        define(self._plan["inputs"], env)
        self._links = mount(self._plan, env, self._check_outside)
        for name, identity, prefix, rest in self._plan["outputs"]:
            path = Path(env["SLIPWAY_WORK"], expand(prefix, env), expand(rest, env))
            path.mkdir(parents=True, exist_ok=True, mode=PRIVATE if name in CLOSED else 0o777)
            env[name], self._directories[identity] = str(path), self._shared(str(path))
        separate(self._plan, env, self._directories, [to for _, to, _ in self._links])
        Path(env["AZ_BATCHAI_SHARED_JOB_TEMP"]).mkdir(parents=True, exist_ok=True)
        hosts = "".join(f"{host} slots={self._plan['slots']}\n" for host in self._hosts)
        Path(env["AZ_BATCHAI_MPI_HOST_FILE"]).write_text(hosts)
        define(self._plan["common"], env)
        env["SLIPWAY_LINKS"] = "".join(f"{at}\t{to}\n" for at, to, _ in self._links)
        self._own = chosen(self._plan, env)

    def _shared(self, path: str) -> str:
        """A path that all nodes have, also after the job: not through the mounts of this run."""
        for at, to, _ in self._links:
            mounted = f"{self._env['AZ_BATCHAI_JOB_MOUNT_ROOT']}/{at}"
            if f"{path}/".startswith(f"{mounted}/"):
                return str(to) + path[len(mounted) :]
        return path

    def _step(self, name: str, code: int, reason: str, message: str) -> None:
        """Run one part of the plan. Raises End; with `code` 0, it has the code of the failed process."""
        steps, beside = self._plan.get(name, []), self._plan["usage"] if name == "main" else []
        if any(step["scheduler"] for step in steps):
            wait_until_ready(self._plan["ready"], self._check_outside)
        directory, before = Path(self._directories["stdouterr"]), name in ("setup", "image")
        own = {} if before else self._own
        try:
            run_all(steps, beside, self._env, directory, self._check_outside, own, self._ending)
            if self._ending.is_asked:
                raise asked_end()  # it may have ended for that, and with zero
        except Failed as failed:
            if before:
                message = why_not_ready(message, directory / self._env["SLIPWAY_LOG"], self._plan)
            # A command of the job that ended by itself, before the signal came, has its own code.
            if self._ending.is_asked and (code or failed.by_signal):
                raise asked_end() from None
            killed = f": killed (signal 9), {MEMORY}" if failed.code == KILLED and not code else ""
            raise End(code or failed.code, reason, message + killed) from None
        except Displaced as error:
            text = f"{error.filename} cannot be written: something other than a file has been put there"
            raise End(code or DISPLACED, reason, text) from None
        except FileNotFoundError as error:
            text = f"There is no {error.filename} on {self._hosts[0]}. Install it there and run the job again"
            raise End(NO_PROGRAM, "unsupported", text) from None

    def _check_outside(self) -> None:
        """Raise if the run is ended from outside: by a request, the clock, or another run with the claim."""
        now = time.time()
        if self._ending.is_asked:
            end = asked_end()
            self._record(end)  # at once: the kill comes soon
            raise end
        if now > self._until:
            text = f"The wall-clock limit of {self._plan['seconds']} s has been reached"
            raise End(TIMEOUT, "timeout", text)
        if now - self._looked > WATCH:
            self._looked = now
            self._claim.check(self._plan["isAsked"])

    def _record(self, end: Optional[End], until: float = 0.0) -> None:
        record: Dict[str, Any] = {"started": self._started, "hosts": self._hosts}
        record["directories"] = self._directories
        record.update(places(self._plan, self._env))
        if end is None:
            self._claim.record(dict(record, state="running", final=False))
            return
        self._claim.record(dict(record, **end.fields(), ended=stamp(), **held(until)))

    def _journal(self, host: str) -> str:
        return "execution.log" if len(self._hosts) == 1 else f"execution-{host}.log"

    def _log(self, text: str, host: Optional[str] = None) -> None:
        """Write a line into the log of one node, or of all. The record does not need it: never raises."""
        for name in self._hosts if "stdouterr" in self._directories else ():
            if host in (None, name):
                path = Path(self._directories["stdouterr"], self._journal(name))
                with suppress(OSError), open_end(path) as journal:
                    journal.write(f"{stamp()} {text}\n".encode())


def main() -> int:
    """Run the plan; the exit code is the job's, or one of those above."""
    close_output()
    private = take(("SLIPWAY_PLAN", "SLIPWAY_SUBMISSION", "SLIPWAY_AGENTS"))
    plan, submission = plan_of(private.pop("SLIPWAY_PLAN")), private.pop("SLIPWAY_SUBMISSION", "")
    os.environ.update(private)  # for the step alone that finds the nodes: see `hidden`
    claim = Claim(store_of(plan["records"], plan["proof"]), plan["token"], submission, plan["grace"])
    try:
        claim.take([os.environ.get(name) or "0" for name in plan["run"]], plan.get("startBy"))
        try:
            record = claim.take_from(plan["earlier"])
            run = Run(plan, claim)
            return run.execute() if record is None else run.answer(record)
        finally:
            claim.leave()
    except Silent as silent:
        return silent.code
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        return End.unrecorded(error)


if __name__ == "__main__":
    sys.exit(main())
