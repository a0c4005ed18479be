"""What real API servers answered, through the client: each exchange has the meaning that it had there.

The recordings are not committed: KUBERNETES_RECORDINGS names their folder, else one that lies beside the
project is used.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared.core.errors import (
    Busy,
    Conflict,
    Misconfigured,
    NotFound,
    Rejected,
    Saturated,
    Transient,
)
from shared.engines.kubernetes.wire.compare import dropped
from shared.engines.kubernetes.wire.errors import LacksRight, failure
from shared.engines.kubernetes.wire.shapes import EVENT, JOB, POD, WORKLOAD, Shape
from shared.engines.kubernetes.wire.version import version_of
from tests.unit.engines.kubernetes.server import Reply, Request, server

_USUAL = Path(__file__).parents[5] / "shared" / "recordings" / "kubernetes"
FOLDER = Path(os.environ.get("KUBERNETES_RECORDINGS", _USUAL))
#: How often each class has to come of all of them: counted by hand from the answers' messages.
MEANINGS = {
    **{Conflict: 2, Busy: 1, Misconfigured: 4, LacksRight: 1, NotFound: 5},
    **{Rejected: 15, Saturated: 1, Transient: 1},
}


def exchanges() -> list[Any]:
    files = sorted(FOLDER.glob("*/*.jsonl"))
    if not files:
        pytest.skip(f"no recordings in {FOLDER}: set KUBERNETES_RECORDINGS to their folder")
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


async def test_every_recorded_answer_passes_through_the_client() -> None:
    recorded = exchanges()
    for one in recorded:
        answer = one["response"]
        content = answer.encode() if isinstance(answer, str) else answer
        async with server(_started(one["status"], content)) as running:
            client = running.client()
            path, _, _ = one["path"].partition("?")
            form = "*/*" if isinstance(answer, str) else "application/json"
            if one["status"] < 300:
                read = await client.call(one["method"], path, one.get("request"), form=form)
                assert form == "*/*" or read.body == answer
            else:
                with pytest.raises(type(failure(one["status"], answer))):
                    await client.call(one["method"], path, one.get("request"), form=form)
            await client.close()

    assert len(recorded) > 180


def _started(status: int, content: object) -> Callable[[Request], Reply]:
    """A server that is ready, and answers so."""
    return lambda request: (200, b"ok") if request.path == "/readyz" else (status, content)


def test_every_recorded_error_has_one_of_our_meanings() -> None:
    errors = [failure(one["status"], one["response"]) for one in exchanges() if one["status"] >= 400]

    assert Counter(type(error) for error in errors) == MEANINGS


def test_fields_that_a_server_does_not_know_are_the_only_ones_that_it_dropped() -> None:
    creations = [one for one in exchanges() if one["method"] == "POST" and one["status"] == 201]
    lost = {
        place
        for one in creations
        if one["request"]["kind"] in ("Job", "Service")
        for place in dropped(one["request"], one["response"])
    }

    assert lost == {"spec.paralelism", "spec.scheduling"}


def test_the_versions_are_read() -> None:
    texts = [version_of(one["response"]) for one in exchanges() if one["path"] == "/version"]

    assert {str(version) for version in texts} == {"1.20", "1.36"}


def test_every_recorded_object_can_be_read() -> None:
    shapes: dict[str, Shape] = {"Job": JOB, "Pod": POD, "Workload": WORKLOAD, "Event": EVENT}
    read = Counter[str]()
    for one in exchanges():
        answer = one["response"] if isinstance(one["response"], dict) else {}
        kind = str(answer.get("kind")).removesuffix("List")
        for document in answer.get("items", [answer]):
            if kind in shapes and document.get("metadata"):
                assert shapes[kind](document), document
                read[kind] += 1

    assert read.keys() == shapes.keys()
