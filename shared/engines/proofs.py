"""The keys that prove the records of attempts, which only the app and the program on the nodes have. Pure.

They follow from a secret of the deployment and the token of an attempt, so they are stored nowhere. A
deployment without a secret has none; there every record counts.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from shared.core.engine import Order
from shared.engines.entry import Values
from shared.engines.node.proof import Proof
from shared.engines.runs import UNPROVEN, Record

#: The most bytes of a record; real ones have some hundred.
LARGEST = 1 << 20
#: What says where the files of a run are, and nothing of its end.
_PLACES = ("directories", "kept", "saved", "answers")


def saved_by(job_id: str) -> str:
    """What stands for a token where the keys prove what a job saved, in any attempt. No token has a space."""
    return f"saved {job_id}"


class Proofs:
    """The keys of every attempt. Several secrets are those of a rotation: a record needs the proof of one."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._secrets = tuple(one.encode() for one in secrets)

    def keys(self, token: str) -> tuple[str, ...]:
        """The keys of an attempt, one for each secret."""
        text = b"slipway record\n" + token.encode()
        return tuple(hmac.new(one, text, hashlib.sha256).hexdigest() for one in self._secrets)

    def with_keys(self, order: Order) -> Order:
        """The order with the keys of its attempt, of those before it, and of what its job saves."""
        if not self._secrets:
            return order
        earlier = (one.target.token for one in order.earlier)
        before = (one.target.job_id for one in order.before)
        jobs = filter(None, (order.target.job_id, order.resumes, *before))
        tokens = (order.target.token, *map(saved_by, jobs), *earlier)
        return replace(order, keys={token: self.keys(token) for token in tokens})

    def proof_of(self, token: str) -> Proof:
        """The proof of an attempt's objects."""
        return Proof(self.keys(token))


def proofs_of(settings: Values) -> Proofs:
    """The keys of a deployment: they follow from that of its sealed secrets."""
    return Proofs(settings.names("SLIPWAY_SEAL_KEY"))


def parsed(text: bytes) -> dict[str, Any]:
    """A JSON object; an empty one for anything else. Raises ValueError, and RecursionError."""
    if len(text) > LARGEST:
        raise ValueError(f"more than {LARGEST} bytes")
    document = json.loads(text)
    return document if isinstance(document, dict) else {}


def read(proof: Proof, name: str, text: bytes) -> Mapping[str, Any]:
    """The object of that name within the attempt; marked if it lacks a proof that it needs.

    Raises ValueError and RecursionError for one that needs none, and cannot be read.
    """
    if not proof.is_needed:
        return parsed(text)
    if proven := proof.value(name, text):
        return proven
    with suppress(ValueError, RecursionError):
        return {**parsed(text), UNPROVEN: True}
    return {UNPROVEN: True}


def record_of(last_turn: Mapping[str, Any], record: Record) -> Record:
    """The record of the run whose turn it was; only where its files are, without the proof of both."""
    if UNPROVEN not in last_turn and UNPROVEN not in record:
        return record
    return {name: record[name] for name in (*_PLACES, "run") if name in record} | {UNPROVEN: True}
