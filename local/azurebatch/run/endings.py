"""The end of a task, in the service's terms. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Failure(Exception):
    """A task that cannot start. `info` is the reason, as `failureInfo`."""

    def __init__(self, info: dict[str, Any]) -> None:
        super().__init__(info["message"])
        self.info = info


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The end of a task's processes. `lost`: it is unknown, as after a crash of the machine."""

    exit_code: int | None = None
    failure: dict[str, Any] | None = None
    lost: bool = False
    subtasks: tuple[int | None, ...] = ()


def failure(code: str, message: str, details: Mapping[str, str] | None = None) -> Failure:
    """A failure that the user caused."""
    return Failure(_info(code, message, details))


def exited(code: int, subtasks: tuple[int | None, ...] = ()) -> Ending:
    """The end of a process with an exit code; only 0 is a success."""
    if code == 0:
        return Ending(exit_code=0, subtasks=subtasks)
    message = "The task exited with an exit code representing a failure"
    details = {
        "Message": "The task process exited with an unexpected exit code",
        "AdditionalErrorCode": "FailureExitCode",
    }
    return Ending(exit_code=code, failure=_info("FailureExitCode", message, details), subtasks=subtasks)


def ended_by(user: bool) -> dict[str, Any]:
    """The end of a task by a caller, or by its time limit."""
    if user:
        return _info("TaskEnded", "Task Was Ended by User Request")
    return _info("TaskEnded", "The task ran longer than its maxWallClockTime")


def _info(code: str, message: str, details: Mapping[str, str] | None = None) -> dict[str, Any]:
    info: dict[str, Any] = {"category": "usererror", "code": code, "message": message}
    if details:
        info["details"] = [{"name": name, "value": value} for name, value in details.items()]
    return info
