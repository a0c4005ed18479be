"""The claim on an attempt: one submission may run it, one run at a time, and only after earlier attempts.

The scheduler may forget a job, give its number to another one, start a copy of it, or lose a node whose
processes live on. The current turn is recorded where all nodes see it (`turns`); a run whose turn is over
ends its processes, and writes nothing more.
"""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Dict, List, Optional

from shared.engines.node.ends import asked_end
from shared.engines.node.files import PRIVATE
from shared.engines.node.processes import GRACE
from shared.engines.node.proof import Proof
from shared.engines.node.store import Directory, Store
from shared.engines.node.turns import Turns

#: The exit codes of a copy that must not run.
LATE, FOREIGN, DIRECTORY_TAKEN, MOVED = 249, 252, 253, 254
#: Seconds between two checks of the claim.
WATCH = 5.0
#: The name of the object by which the app asks a run to end, where it can write one.
REQUEST = "asked"
#: The name of a file that a run writes when nothing of it is left on its nodes.
NODES_CLEAR = "left"


class Silent(Exception):
    """This copy must not run, and leaves no record: another copy has the claim, or had it."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Claim:
    """The claim on one attempt, and the records of its runs."""

    def __init__(self, attempt: Store, token: str, submission: str, grace: float = GRACE) -> None:
        self._attempt, self._token, self._submission = attempt, token, submission
        #: seconds until nothing of a run is left that has lost its claim
        self._leaving = 2 * WATCH + grace
        self._turns, self._own_turn = Turns(attempt), 0
        self.run = ""

    @property
    def number(self) -> int:
        """The turn of this run, above those of the runs of its attempt before it."""
        return self._own_turn

    def take(self, numbers: List[str], start_by: Optional[float] = None) -> None:
        """Claim the attempt, or take it over from an earlier run of the same submission. Raises Silent.

        Also after `start_by`: the run would need its signatures for longer than they live.
        """
        if start_by and time.time() > start_by:
            raise Silent(LATE)
        self.run = self._new_run("-".join(numbers))
        mine = {"token": self._token, "submission": self._submission, "run": self.run}
        try:
            while not self._own_turn:
                number, last = self._turns.last()
                self._may_follow(last)
                self._own_turn = self._turns.add(number, mine)
        except Silent:
            self._attempt.release(self.run)
            raise
        self._attempt.write("claim.json", mine)
        if last:
            self._wait_until_left([self._attempt.child(str(last.get("run")))])

    def take_from(self, earlier: List[List[str]]) -> Optional[Dict[str, Any]]:
        """Take the job from its earlier attempts: name, token, why the ledger ended it, keys; newest first.

        Returns the record of an attempt whose end the ledger does not know; otherwise none of them goes on.
        """
        runs = []
        for name, token, reason, *keys in earlier:
            attempt = self._attempt.sibling(name, Proof(keys))
            last = self._take_away(attempt, token)
            record = last.get("ended")
            if record is None:
                runs.append(attempt.child(str(last.get("run"))))
            elif reason and record.get("reason") != reason:
                answers = record.get("answers") or {"name": name, "run": record.get("run")}
                return dict(record, answers=answers)
            else:
                break  # it has done the same with the earlier ones
        self._wait_until_left(runs)
        return None

    def is_held(self) -> bool:
        """Whether this run still has the claim. An unreadable claim does not count as lost."""
        try:
            return not self._turns.has_after(self._own_turn)
        except OSError:
            return True

    def check(self, can_be_asked: bool) -> None:
        """Raise Silent if another run has the claim, and End if the app asks for the end of the attempt.

        `can_be_asked`: it can write where the records are. What a job wrote there lacks the proof.
        """
        if not self.is_held():
            raise Silent(MOVED)
        with suppress(OSError):
            if can_be_asked and self._attempt.read(REQUEST, waits=False):
                raise asked_end(by_app=True)

    def record(self, value: Dict[str, Any]) -> None:
        """Write the record of this run. Raises Silent for a final one if the turn is over."""
        whole = dict(value, version=1, token=self._token, run=self.run)
        if whole["final"]:
            end = self._turns.add(self._own_turn, {"token": self._token, "ended": whole})
            if not end:
                raise Silent(MOVED)
            self._own_turn = end
        self._attempt.child(self.run).write("result.json", whole)

    def leave(self) -> None:
        """Note that nothing of this run is left, so that the next one need not wait.

        This only saves time: never raises.
        """
        with suppress(OSError):
            self._attempt.child(self.run).write(NODES_CLEAR, {})

    def announce(self, ends: str) -> None:
        """Copy the record to where a new file is noticed at once; "" for nowhere.

        This only saves time: never raises.
        """
        if not ends:
            return
        copy = Path(ends) / self._token
        with suppress(OSError):
            copy.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
            Directory(copy).save("result.json", self._attempt.child(self.run).load("result.json"))

    def _new_run(self, base: str) -> str:
        number, run = 1, base
        while True:
            try:
                self._attempt.reserve(run)
            except FileExistsError:
                number += 1
                run = f"{base}-{number}"
            else:
                return run

    def _may_follow(self, last: Dict[str, Any]) -> None:
        """Raise Silent if this run may not be the next one."""
        if last and last.get("token") != self._token:
            raise Silent(FOREIGN)
        if "ended" in last:
            raise Silent(int(last["ended"].get("code", 0)))  # the answer of that earlier run
        if "taken" in last:
            raise Silent(MOVED)
        if last and last.get("submission") != self._submission:
            raise Silent(DIRECTORY_TAKEN)

    def _take_away(self, attempt: Store, token: str) -> Dict[str, Any]:
        """End an earlier attempt, unless it has ended, and return its last turn before that."""
        turns = Turns(attempt)
        while True:
            number, last = turns.last()
            if last and last.get("token") != token:
                return {}  # the claim of another job, which has nothing to do with this one
            if "ended" in last or "taken" in last:
                return last
            claim = {"token": token, "submission": "", "run": last.get("run", "")}
            if turns.add(number, dict(claim, taken=self._attempt.name)):
                attempt.write("claim.json", dict(claim, run=""))
                return last

    def _wait_until_left(self, runs: List[Store]) -> None:
        """Wait until nothing is left of runs that lost their claim, or until they must have noticed it."""
        until = time.time() + self._leaving
        while time.time() < until and not all(map(_run_is_over, runs)):
            time.sleep(WATCH / 10)


def _run_is_over(run: Store) -> bool:
    try:
        return NODES_CLEAR in run.names()
    except FileNotFoundError:
        return True  # the attempt never ran
    except OSError:
        return False
