"""The emulator's errors, as ARM error bodies."""

from typing import Any


class ArmError(Exception):
    """One refusal. `target` is a JSON pointer into the body, or the name of a parameter."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        target: str | None = None,
        details: tuple["ArmError", ...] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.target = target
        self.details = details

    def body(self) -> dict[str, Any]:
        """The document of the answer, `{"error": {…}}`."""
        return {"error": self._error()}

    def _error(self) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.target is not None:
            error["target"] = self.target
        if self.details:
            error["details"] = [detail._error() for detail in self.details]
        return error


def not_found(kind: str, name: str) -> ArmError:
    """A missing resource, with the service's own code and sentence."""
    code = kind[0].upper() + kind[1:]
    return ArmError(404, f"{code}NotFound", f"The specified {kind} {name} is not found")


def invalid(message: str, target: str, code: str = "InvalidRequest") -> ArmError:
    """An invalid value in the request."""
    return ArmError(400, code, message, target)


def all_of(problems: list[ArmError]) -> ArmError:
    """One answer for all problems of a request: the first is its message, and its details list all."""
    first = problems[0]
    if len(problems) == 1:
        return first
    return ArmError(first.status, first.code, first.message, first.target, tuple(problems))
