"""What `slipway run --json` says of a job, line by line."""

import json
from collections.abc import Mapping
from typing import Any


class Course:
    """What `slipway run --json` has said of the job."""

    def __init__(self) -> None:
        self.job, self.sweep = "", ""
        self.end: Mapping[str, Any] = {}
        self.error: Mapping[str, Any] = {}
        #: what says that no more comes of a command that was ended, with the key of what it submitted
        self.interrupted: Mapping[str, Any] | None = None

    def take(self, line: str) -> str:
        """Keep what a line says; returns it as people read it, or ""."""
        try:
            one = json.loads(line)
        except ValueError:
            return line
        if not isinstance(one, dict):
            return line
        self.error = one.get("error", self.error)
        match one.get("event"):
            case "log":
                return f"{one['rank']}: {one['line']}" if "rank" in one else str(one["line"])
            case "job":
                self.job = str(one["id"])
                return f"slipway: the job is {self.job}"
            case "state":
                return f"slipway: {one['state']}"
            case "waits":
                return f"slipway:   {one.get('text', '')}"
            case "end":
                self.end = one
            case "interrupted":
                self.interrupted = one
        return "" if "event" in one or "error" in one else line

    @property
    def state(self) -> str:
        """How the job ended; "" for what did not."""
        return str(self.end.get("state", ""))

    def exit_code(self, of_command: int) -> int:
        """That of a job which failed, if it has one; else that of the command."""
        own = self.end.get("exitCode")
        return own if of_command and isinstance(own, int) and 0 < own < 256 else of_command

    @property
    def key(self) -> str:
        """The idempotency key of what was submitted, and has no id yet."""
        return str((self.interrupted or {}).get("idempotencyKey", ""))
