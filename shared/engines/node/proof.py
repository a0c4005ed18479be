"""The proof that an object of an attempt was written by the program on its nodes, not by a job.

An object is JSON. Its second line is the proof: HMAC-SHA256, by each key of the attempt, of the object's name
within the attempt and of all lines after the proof. So what was written for one turn or run proves nothing
under the name of another, and nothing can be added to it. No other job sees a key; of the job's own
processes, none does outside an image that it made itself (`private`).
"""

import hashlib
import hmac
import json
import re
from typing import Any, Dict, Sequence

_BEGIN = b"{\n"
_PROOF = re.compile(rb'\{\n "proof": "([0-9a-f ]*)",\n')


class Proof:
    """The keys of an attempt, at a place within it. Without a key, everything counts as proven."""

    def __init__(self, keys: Sequence[str] = (), place: str = "") -> None:
        self._keys, self._place = tuple(keys), place

    @property
    def is_needed(self) -> bool:
        """Whether an object without a proof counts for nothing."""
        return bool(self._keys)

    def child(self, name: str) -> "Proof":
        """The same keys, at a place within this one."""
        return Proof(self._keys, f"{self._place}{name}/")

    def text(self, name: str, value: Dict[str, Any]) -> bytes:
        """An object of that name as it is stored; an empty one proves nothing."""
        plain = json.dumps(value, indent=1).encode() + b"\n"
        if not self._keys or not value:
            return plain
        lines = plain[len(_BEGIN) :]
        codes = " ".join(self._code(key, name, lines) for key in self._keys)
        return b'%s "proof": "%s",\n%s' % (_BEGIN, codes.encode(), lines)

    def value(self, name: str, text: bytes) -> Dict[str, Any]:
        """The object that is stored under that name; an empty one without a proof. Never raises."""
        match = _PROOF.match(text)
        if self._keys:
            lines = text[match.end() :] if match else b""
            if match is None or not self._fits(name, lines, match.group(1).decode()):
                return {}
            text = _BEGIN + lines
        try:
            document = json.loads(text.decode())
        except (ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}

    def _fits(self, name: str, lines: bytes, codes: str) -> bool:
        own = [self._code(key, name, lines) for key in self._keys]
        return any(hmac.compare_digest(code, one) for code in codes.split(" ") for one in own)

    def _code(self, key: str, name: str, lines: bytes) -> str:
        return hmac.new(
            bytes.fromhex(key), f"{self._place}{name}\n".encode() + lines, hashlib.sha256
        ).hexdigest()
