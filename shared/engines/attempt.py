"""The objects of one attempt in the directory that nodes share, where jobs may have put anything."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from confined import Confined
from shared.engines.node.proof import Proof
from shared.engines.node.store import numbers_of
from shared.engines.proofs import LARGEST, parsed, read, record_of
from shared.engines.runs import UNPROVEN, Record, is_folder

#: More turns than this are not looked at: jobs may have written any number.
_TURNS = 200


class Attempt:
    """The turns and records of an attempt. All methods raise OSError, ValueError and RecursionError."""

    def __init__(self, files: Confined, proof: Proof) -> None:
        self._files, self._proof = files, proof

    def claimed_by(self) -> Any:
        """The token that the claim names, proven or not; None if it names none."""
        return parsed(self._load("claim.json")).get("token")

    def record(self, token: str) -> Record | None:
        """The record of the run whose turn it is, or was at the end; None if there is none for that token.

        What a job has put in its place is a sign that something ran, and says nothing else.
        """
        last = self._last_turn()
        nothing = {UNPROVEN: True} if UNPROVEN in last else None
        ended, run = last.get("ended"), last.get("run")
        if last.get("token") != token or "taken" in last:
            return nothing
        if isinstance(ended, dict):
            return record_of(last, ended) if is_folder(ended.get("run")) else nothing
        if not is_folder(run):
            return nothing
        return record_of(last, {**self._object(f"{run}/result.json"), "run": run})

    def _last_turn(self) -> Mapping[str, Any]:
        """The last turn that is proven; if none is, the last one; empty before the first."""
        last: Mapping[str, Any] = {}
        try:
            numbers = self._turns()
        except PermissionError:
            if not self._proof.is_needed:
                raise
            return {UNPROVEN: True}  # a job locked them
        for number in numbers:
            with suppress(FileNotFoundError):
                content = self._object(f"turns/{number}")
                if UNPROVEN not in content:
                    return content
                last = last or content
        return last

    def _turns(self) -> list[int]:
        """The numbers of the turns, the newest first."""
        try:
            names = [entry.name for entry in self._files.entries("turns")]
        except FileNotFoundError:
            return []
        return numbers_of(names)[:_TURNS]

    def _object(self, name: str) -> Mapping[str, Any]:
        try:
            text = self._load(name)
        except (PermissionError, IsADirectoryError):  # refused, too
            if not self._proof.is_needed:
                raise
            text = b""  # what a job put in the place of a file, or locked
        return read(self._proof, name, text)

    def _load(self, name: str) -> bytes:
        with self._files.file(name, links=False) as file:
            return file.read(LARGEST + 1)
