"""What is kept of a document: secrets sealed, unknown members masked, and no more than the ledger takes."""

from __future__ import annotations

import json

import pytest

from shared.adapters.sealing import AesSeal
from shared.intake.desk import deployment_limits as preparing
from shared.intake.message import read_request
from shared.jobspec import Limits
from tests.unit.intake.desk.test_prepare import codes, prepared, request
from tests.unit.world import World, job_json


def test_what_an_unknown_member_holds_is_not_kept(world: World) -> None:
    draft = prepared(world, request(nodeCuont={"a": "canary"}))
    assert "canary" not in json.dumps(draft.document)


def test_secrets_are_sealed_for_their_key_and_place_or_refused(world: World) -> None:
    own_request = request(secrets=[{"name": "TOKEN", "value": "canary"}])
    draft = prepared(world, own_request, key="mine")
    assert draft.valid
    assert "canary" not in json.dumps(draft.document)

    world.use(seal=AesSeal([]))
    draft = prepared(world, own_request)
    assert codes(draft) == [("SW102", "/properties/secrets/0/value")]
    assert "canary" not in json.dumps(draft.document)
    assert prepared(world, request()).valid  # without a secret no key is needed


@pytest.mark.parametrize(("room", "fits"), [(0, True), (-1, False)])
def test_a_document_that_the_ledger_cannot_take_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch, room: int, fits: bool
) -> None:
    odd = {"customToolkitSettings": {"commandLine": "echo \u00fc \ud800"}}
    document = prepared(world, request(**odd)).document
    size = (
        len(
            json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(
                "utf-16-le", "surrogatepass"
            )
        )
        // 2
    )
    monkeypatch.setattr(preparing, "_LONGEST", size + room)
    expected = [] if fits else [("SW001", "")]
    assert [one for one in codes(prepared(world, request(**odd))) if one[0] == "SW001"] == expected
    messages = read_request(json.dumps(job_json()).encode(), Limits())
    monkeypatch.setattr(preparing, "_MOST_GROWTH", 0)  # so short that no sealing makes it too long
    assert codes(prepared(world, messages)) == []
