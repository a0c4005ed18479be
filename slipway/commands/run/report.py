"""Reports the progress of `slipway run`: remarks for people, or events for programs."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slipway.client.jobs.lines import JsonPrinter, Printer, printer_of
from slipway.client.jobs.watch import job_news, new_entries
from slipway.client.jobs.words import ENDED, why
from slipway.commands.download.fetched import Fetched
from slipway.terminal.screen import put, put_json, say

Job = Mapping[str, Any]


@dataclass(frozen=True)
class Report:
    """Standard output has the log; with `as_json` an object on each line, whose `event` says what it is."""

    as_json: bool = False

    @property
    def printer(self) -> Printer:
        """The printer of log chunks: objects with `as_json`, else text."""
        if self.as_json:
            return JsonPrinter(sys.stdout.buffer, head={"event": "log"})
        return printer_of(sys.stdout, sys.stderr)

    def begun(self, job_id: str, *, detached: bool = False) -> None:
        """Report the id of the job, once it is accepted."""
        if self.as_json:
            put_json({"event": "job", "id": job_id}, indent=None)
        elif detached:
            put(job_id)
        else:
            say(f"the job is {job_id}")

    def state(self, before: Job | None, job: Job) -> None:
        """Report a change of the job. People do not see a bad end here: its reason follows the last lines."""
        if self.as_json:
            for entry in new_entries(before, job):
                words = {name: entry[name] for name in ("reason", "note") if name in entry}
                put_json({"event": "state", "state": entry["state"], "at": entry["at"], **words}, indent=None)
            return
        bad = job["state"] in ENDED - {"succeeded", "rejected"}
        for line in job_news(before, job)[: -1 if bad else None]:
            say(line.text)

    def waits(self, job: Job) -> None:
        """Report why the job waits."""
        if self.as_json:
            put_json({"event": "waits", **job["waiting"]}, indent=None)
        else:
            say(f"  {why(job)}")

    def interrupted(self, job_id: str, *, cancelled: bool = False, key: str = "") -> None:
        """Report a Ctrl-C. The job goes on unless cancelled; the id is "" if it is not known.

        `key` is the idempotency key of what was submitted, and has no id yet.
        """
        if self.as_json:
            named = ({"id": job_id} if job_id else {}) | ({"idempotencyKey": key} if key else {})
            put_json({"event": "interrupted", **named, "cancelled": cancelled}, indent=None)

    def failure(
        self, job: Job, errors: Sequence[str], fetched: Fetched | None = None, left_behind: str = ""
    ) -> None:
        """Report that the job ended without success, and the files that were downloaded, or what there is.

        To programs with these last lines, which people saw.
        """
        if self.as_json:
            download = {"download": fetched.answer} if fetched else {}
            self._end(job, {"errors": [line.strip() for line in errors if line], **download})
            return
        if fetched:
            say(fetched.text)
        if remedy := job.get("remedy"):
            say(remedy)
        more = ", ".join(f"slipway {words}" for words in _more(job, left_behind, is_here=bool(fetched)))
        say(f"{job['state']}: {job.get('message') or 'no reason is known'}; more: {more}")

    def success(self, job: Job, fetched: Fetched | None) -> None:
        """Report that the job succeeded, and the files that were downloaded, if any."""
        if self.as_json:
            self._end(job, {"download": fetched.answer} if fetched else {})
        elif fetched:
            say(fetched.text)

    def _end(self, job: Job, more: Mapping[str, Any]) -> None:
        words = {name: job[name] for name in ("exitCode", "message", "lastError") if name in job}
        put_json({"event": "end", "id": job["id"], "state": job["state"], **words, **more}, indent=None)


def _more(job: Job, left_behind: str, *, is_here: bool) -> list[str]:
    """The commands that show more of a job that did not succeed: of each attempt, and its files."""
    name, last = job["id"], job.get("attempt", 1)
    attempts = [f"log {name} --attempt {last - 1}"] if last > 1 else []
    what = f" ({left_behind})" if left_behind else ""
    files = [f"download {name}{what}"] if "engine" in job and not is_here else []
    return [f"show {name}", *attempts, *files]
