"""A secret in what a job printed is masked in every way in which a program writes it."""

from __future__ import annotations

import json
from urllib.parse import quote, quote_plus

import pytest

from shared.core.conceal import without_secrets
from shared.core.job import JobState, Reason
from tests.unit.world import World, job_json

VALUES = ("p4ss\\w0rd-hunter2", 'it\'s-"both"-kinds', "pa/ss+w ord%21", "t\u00f6p\tsecret", "tail\\")
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n  kqhkiG9w0BAQEF\r\nab\n-----END PRIVATE KEY-----\n"


class Quoted(Exception):
    """An error that shows its argument as Python does."""


async def concealed(world: World, secret: str, text: str) -> str:
    """The text, of a job that has the secret."""
    accepted = await world.message(job_json(secrets=[{"name": "TOKEN", "value": secret}]))
    document = await world.ledger.spec(accepted.job.id)
    return without_secrets(world.ports, accepted.job, document, text)


@pytest.mark.parametrize("value", VALUES)
async def test_no_writing_of_a_secret_is_shown(world: World, value: str) -> None:
    writings = [
        value,
        repr(value),
        ascii(value),
        repr(value.encode()),
        repr([value, "'", '"']),
        repr(f"{value} beside ' and \""),
        json.dumps({"token": value}),
        json.dumps({"token": value}, ensure_ascii=False),
        json.dumps(value).replace("/", "\\/"),
        repr(Quoted(f"bad value {value!r}")),
        json.dumps({"error": f"bad value {value!r}"}),
        json.dumps({"body": json.dumps({"t": value})}),
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
        quote(quote(value, safe=""), safe=""),
    ]
    for text in writings:
        answer = await concealed(world, value, text)
        assert "***" in answer
        # Nothing of it is left but what quotes it.
        for word in ("w0rd", "both", "ord", "secret", "tail"):
            assert word not in answer, text


async def test_lines_of_a_secret_are_masked_without_the_others(world: World) -> None:
    for line in KEY.split("\n"):
        if len(line.strip()) > 3:
            assert await concealed(world, KEY, f"> {line.strip()} <") == "> *** <"
    assert "MII" not in await concealed(world, KEY, repr(KEY))
    assert await concealed(world, KEY, "about") == "about"


async def test_a_secret_that_no_text_can_hold_breaks_nothing(world: World) -> None:
    assert await concealed(world, "lone-\ud800-half", "the rest") == "the rest"


async def test_the_last_error_has_no_line_of_a_key_that_the_look_at_the_end_cuts(world: World) -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + "Mx9/+aBc\n" * 600 + "-----END PRIVATE KEY-----"
    await world.message(job_json(secrets=[{"name": "TOKEN", "value": key}]))
    world.engine.output = {"stderr.txt": key.encode()}
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.USER)
    await world.make_pass()
    (job,) = world.ledger.jobs
    assert job.state is JobState.FAILED
    assert "PRIVATE" not in job.last_error
    assert "Mx9" not in job.last_error
