"""The errors of an API server, as a Status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Refusal(Exception):
    """An error that the server answers."""

    def __init__(self, code: int, reason: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code, self.reason, self.message, self.details = code, reason, message, details

    @property
    def body(self) -> dict[str, Any]:
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        status |= {"message": self.message, "reason": self.reason, "code": self.code}  # type: ignore[dict-item]
        return {**status, **({"details": self.details} if self.details else {})}


def absent(kind: Mapping[str, str], name: str) -> Refusal:
    details = {"name": name, "kind": kind["plural"], **_group(kind)}
    return Refusal(404, "NotFound", f'{resource(kind)} "{name}" not found', **details)


def already_exists(kind: Mapping[str, str], name: str, *, is_ending: bool = False) -> Refusal:
    text = f'{resource(kind)} "{name}" already exists'
    text = f"object is being deleted: {text}" if is_ending else text
    return Refusal(409, "AlreadyExists", text, name=name, kind=kind["plural"], **_group(kind))


def forbidden(kind: Mapping[str, str], name: str, why: str) -> Refusal:
    details = {"name": name, "kind": kind["plural"], **_group(kind)}
    return Refusal(403, "Forbidden", f'{resource(kind)} "{name}" is forbidden: {why}', **details)


def invalid(kind: Mapping[str, str], name: str, causes: list[tuple[str, str, str]]) -> Refusal:
    """The refusal of invalid values. `causes`: reason, message and field of each."""
    listed = [{"reason": reason, "message": message, "field": field} for reason, message, field in causes]
    words = [f"{field}: {message}" for _, message, field in causes]
    text = words[0] if len(words) == 1 else f"[{', '.join(dict.fromkeys(words))}]"
    shown = f"{kind['kind']}.{kind['group']}" if kind["group"] else kind["kind"]
    details = {"kind": kind["kind"], "causes": listed, **({"name": name} if name else {}), **_group(kind)}
    return Refusal(422, "Invalid", f'{shown} "{name}" is invalid: {text}', **details)


def resource(kind: Mapping[str, str]) -> str:
    return f"{kind['plural']}.{kind['group']}" if kind["group"] else kind["plural"]


def _group(kind: Mapping[str, str]) -> dict[str, str]:
    return {"group": kind["group"]} if kind["group"] else {}
