"""The receivers of a job: shown, sealed, or refused at its place; and the names that a job may have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.sealing import AesSeal
from shared.core.errors import Misconfigured
from shared.intake.desk.prepare import slug
from shared.intake.desk.receivers import check_default_notify
from tests.unit.intake.desk.test_prepare import codes, prepared, request
from tests.unit.world import World


def test_receivers_are_shown_and_sealed_and_those_of_the_settings_stand_in(world: World) -> None:
    hidden = {"url": "https://a.example.com/x?code=canary", "secret": "team", "events": ["failed"]}
    draft = prepared(world, request({"notify": [{"url": "https://b.example.com"}, hidden]}))
    plain, sealed = draft.receivers
    assert (plain.url, plain.sealed, plain.context, plain.secret) == (
        "https://b.example.com",
        None,
        "",
        "default",
    )
    assert (sealed.context, sealed.secret, sealed.events) == ("k/notify/1", "team", ("failed",))
    assert sealed.sealed is not None
    assert world.ports.seal.unseal(sealed.sealed, "k/notify/1") == hidden["url"]
    assert "canary" not in sealed.url

    assert prepared(world, request()).receivers == ()
    world.policy(default_notify=({"url": "https://c.example.com"},))
    assert [one.url for one in prepared(world, request()).receivers] == ["https://c.example.com"]


@pytest.mark.parametrize(
    ("hook", "code", "at", "message"),
    [
        ({"url": "https://127.0.0.1/x"}, "SW103", "url", "webhook address refused: "),
        (
            {"url": "https://a.example.com", "secret": "nobody"},
            "SW104",
            "secret",
            "there is no webhook secret named 'nobody' for jobs of this team",
        ),
    ],
)
def test_a_receiver_that_cannot_be_notified_is_refused_at_its_place(
    world: World, hook: dict[str, Any], code: str, at: str, message: str
) -> None:
    own_request = replace(request({"notify": [{"url": "https://b.example.com"}, hook]}), envelope_at="/e")
    draft = prepared(world, own_request)
    assert codes(draft) == [(code, f"/e/notify/1/{at}")]
    assert draft.problems[0].message.startswith(message)
    assert len(draft.receivers) == 1

    world.policy(default_notify=({"url": "https://b.example.com"},))
    check_default_notify(world.ports)
    world.policy(default_notify=(hook,))
    with pytest.raises(Misconfigured, match=f"SLIPWAY_DEFAULT_NOTIFY: /0/{at}: "):
        check_default_notify(world.ports)


def test_without_a_sealing_key_an_address_may_hide_nothing(world: World) -> None:
    world.use(seal=AesSeal([]))
    assert codes(prepared(world, request({"notify": [{"url": "https://a.example.com/x"}]}))) == [
        ("SW102", "/notify/0/url")
    ]
    assert prepared(world, request({"notify": [{"url": "https://a.example.com"}]})).valid
    world.use(secrets={})
    (problem,) = prepared(world, request({"notify": [{"url": "https://a.example.com"}]})).problems[:1]
    assert problem.message == "there is no webhook secret named 'default' for jobs of this team"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("train", "train"),
        ("a b/c", "a-b-c"),
        ("-ä-", "job"),
        ("", "job"),
        ("x" * 70, "x" * 64),
        ("_a.1_", "_a-1_"),
    ],
)
def test_a_name_has_what_every_part_of_the_system_takes(text: str, name: str) -> None:
    assert slug(text, "job") == name
