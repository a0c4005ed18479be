"""Who may run an attempt: one submission, and one run of it at a time.

The scheduler may forget a job, give its number to another one, or start a copy of it. The claim is a file
that all nodes see, and remembers.
"""

import time
from pathlib import Path
from typing import Any, Dict, List

from shared.engines.node.files import read, write

#: Exit codes of a copy that must not run.
FOREIGN, TAKEN, MOVED = 252, 253, 254
#: Seconds between two looks at the claim.
WATCH = 5.0


class Silent(Exception):
    """This copy must not run, and leaves no record: another one has the claim, or had it."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Claim:
    """The claim on one attempt, and the records of its runs."""

    def __init__(self, directory: Path, token: str, submission: str) -> None:
        self._directory, self._token, self._submission = directory, token, submission
        self._path = directory / "claim.json"
        self.run = ""

    def take(self, numbers: List[str]) -> None:
        """Claim it, or take it over from an earlier run of the same submission. Raises Silent."""
        self._directory.mkdir(parents=True, exist_ok=True)
        self.run = self._new_run("-".join(numbers))
        mine = {"token": self._token, "submission": self._submission, "run": self.run}
        try:
            write(self._path, mine, only_new=True)
        except FileExistsError:
            try:
                before = self._before(read(self._path))
            except Silent:
                (self._directory / self.run).rmdir()
                raise
            write(self._path, mine)
            if before.get("state") != "ended":
                # A run that was cut off from the scheduler, and lives, sees the new claim and ends.
                time.sleep(2 * WATCH)

    def held(self) -> bool:
        """Whether it is still this run's. What cannot be read is not taken for a loss."""
        now = read(self._path)
        return not now or now.get("run") == self.run

    def record(self, value: Dict[str, Any]) -> None:
        """Write the record of this run."""
        whole = dict(value, version=1, token=self._token, run=self.run)
        write(self._directory / self.run / "result.json", whole)

    def tell(self, ends: str) -> None:
        """Copy the record to where a new file is noticed. It only saves time, and so never raises."""
        directory = Path(ends) / self._token
        try:
            directory.mkdir(parents=True, exist_ok=True)
            write(directory / "result.json", read(self._directory / self.run / "result.json"))
        except OSError:
            pass

    def _new_run(self, base: str) -> str:
        number, run = 1, base
        while True:
            try:
                (self._directory / run).mkdir()
            except FileExistsError:
                number += 1
                run = f"{base}-{number}"
            else:
                return run

    def _before(self, old: Dict[str, Any]) -> Dict[str, Any]:
        """The record of the earlier run, if this one may follow it. Raises Silent."""
        if old.get("token") != self._token:
            raise Silent(FOREIGN)
        before = read(self._directory / str(old.get("run")) / "result.json")
        if before.get("final"):
            raise Silent(int(before.get("code", 0)))  # the answer of the run that was
        if old.get("submission") != self._submission:
            raise Silent(TAKEN)
        return before
