"""Secrets that people write into commands and variables: the cluster gets them, and no one else sees them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from shared.core.errors import SlipwayError
from shared.core.job import JobState
from shared.intake.arrive import message_arrived
from shared.intake.desk.prepare import prepare
from shared.intake.message import read_request
from shared.intake.request_door import request_explained
from shared.jobspec import report
from shared.jobspec.report import as_json
from tests.breadth import pairs, share
from tests.secret_shapes import SHAPES
from tests.unit.world import World, job_json

#: What it is → a text, and the secret in it.
_SHAPES = {what: (text, secret) for what, text, secret in SHAPES}


def _command(text: str) -> dict[str, Any]:
    return job_json(customToolkitSettings={"commandLine": text})


#: Where a person may write such a text.
_PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "the command": _command,
    "the preparation": lambda text: job_json(jobPreparation={"commandLine": text}),
    "a script's arguments": lambda text: job_json(
        customToolkitSettings=None,
        pyTorchSettings={"pythonScriptFilePath": "$HOME/train.py", "commandLineArgs": text},
    ),
    "a variable": lambda text: job_json(environmentVariables=[{"name": "MINE", "value": text}]),
}


def _body(document: dict[str, Any]) -> bytes:
    properties = {key: value for key, value in document["properties"].items() if value is not None}
    return json.dumps({"properties": properties}).encode()


@pytest.mark.parametrize(("what", "place"), pairs(share(_SHAPES, 0, 2), _PLACES))
async def test_a_secret_in_a_text_is_in_no_row_receipt_event_or_log_and_the_cluster_gets_the_text(
    what: str, place: str, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    text, secret = _SHAPES[what]
    caplog.set_level(logging.DEBUG)
    world.policy(default_notify=({"url": "https://hooks.example.com"},), notices=True)
    document = _PLACES[place](text)

    await message_arrived(world.ports, _body(document), "m1")
    await world.wake()
    (name,) = world.engine.started
    world.engine.set_state(name, JobState.FAILED, message=f"exit 1: {text}")
    await world.make_pass()
    await world.wake()

    (order,) = world.engine.orders
    assert text in _texts(order.document)
    assert world.drops.receipt_files
    events = [body for _, _, body in world.webhooks.posts]
    assert len(events) == 1
    observation = (
        f"{world.ledger.rows}{world.drops.receipt_files}{world.queues.messages}{events}{caplog.text}"
    )
    assert secret not in observation


@pytest.mark.parametrize(("what", "place"), pairs(share(_SHAPES, 1, 2), _PLACES))
async def test_a_secret_in_a_text_is_in_no_answer_and_in_no_line_that_is_shown(
    what: str, place: str, world: World
) -> None:
    text, secret = _SHAPES[what]
    document = _PLACES[place](text)
    every = (document, {**document, "colour": 1}, _misspelt(document))
    for wrong in share(every, list(_SHAPES).index(what) // 2, len(every)):
        request = read_request(
            _body(document) if wrong is document else json.dumps(wrong).encode(), world.ports.policy.limits
        )
        prepared = prepare(world.ports, request, key="k")
        answer = as_json(prepared.problems, valid=prepared.valid, notes=prepared.notes)
        reports = [json.dumps(answer), report.text(report.problems_as_json(prepared.problems))]
        try:
            reports.append(json.dumps(await request_explained(world.ports, request, source="http:", key="k")))
        except SlipwayError as error:
            reports.append(str(error))
        assert secret not in "".join(reports)
        assert json.dumps(secret)[1:-1] not in "".join(reports)


@pytest.mark.long
async def test_a_label_and_a_key_of_a_job_show_no_secret(world: World) -> None:
    secrets: list[str] = []
    for number, (_, text, secret) in enumerate(share(SHAPES, 2, 3)):
        if "\n" in text or len(text) > 256:
            continue
        await message_arrived(
            world.ports, json.dumps({"spec": job_json(), "labels": {"a": text}}).encode(), f"m{number}"
        )
        secrets.append(secret)

    observation = f"{world.ledger.rows}{world.drops.receipt_files}{world.queues.messages}"
    assert len(secrets) > 80
    assert [secret for secret in secrets if secret in observation] == []


def _misspelt(document: dict[str, Any]) -> dict[str, Any]:
    """On one line with the text, so that the line is shown."""
    properties = {"nodeCuont": 1, **{k: v for k, v in document["properties"].items() if v is not None}}
    return {"properties": properties}


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for member in value.values() for text in _texts(member)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [value] if isinstance(value, str) else []
