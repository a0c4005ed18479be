"""The HTTP door: who may name which document, and what an error tells whom."""

from __future__ import annotations

import json
from collections.abc import Awaitable

import azure.functions as func
import pytest

from functions.document import key_of
from functions.openapi.operation import bordered
from shared.adapters.ssh_certificates import certificates_of
from shared.core.caller import READ_ALL, SUBMIT, Caller
from shared.core.errors import Misconfigured, Misuse, SlipwayError, Transient, Unavailable
from shared.core.job import JobState
from shared.core.ledger.activity import act_of
from shared.intake.accept import Accepted
from shared.intake.message import Request, read_request
from shared.intake.request_door import request_arrived, request_explained, request_validated
from tests.unit.adapters.ssh_keys import private_key, public_key
from tests.unit.functions.scene import Scene
from tests.unit.world import World, job_json

ANN = Caller("ann", frozenset({SUBMIT}))
AUDITOR = Caller("auditor", frozenset({SUBMIT, READ_ALL}))
OPERATOR = Caller("operator")


def request(headers: dict[str, str] | None = None) -> func.HttpRequest:
    return func.HttpRequest(method="GET", url="/api/health", headers=headers or {}, body=b"")


def naming(world: World, reference: str) -> Request:
    return read_request(json.dumps({"specBlob": reference}).encode(), world.ports.policy.limits)


def arrival(world: World, who: Caller) -> Awaitable[Accepted]:
    request = naming(world, "scripts/team-b/job.json")
    return request_arrived(world.ports, request, door="http", source=who.source, key="k", who=who)


@pytest.mark.parametrize("who", [ANN, AUDITOR], ids=["ann", "auditor"])
async def test_who_may_not_submit_for_its_team_cannot_name_a_drop(world: World, who: Caller) -> None:
    world.drops.upload("team-b/job.json", json.dumps(job_json()).encode())
    request = naming(world, "scripts/team-b/job.json")
    for asking in (
        arrival(world, who),
        request_explained(world.ports, request, source=who.source, key=None, who=who),
        request_validated(world.ports, request, who),
    ):
        with pytest.raises(Misuse) as refused:
            await asking
        assert refused.value.status == 403
    assert world.ledger.rows == {}


async def test_who_may_submit_for_every_team_may_name_a_drop(world: World) -> None:
    world.drops.upload("team-b/job.json", json.dumps(job_json()).encode())
    assert (await arrival(world, OPERATOR)).job.state is JobState.QUEUED


@pytest.mark.parametrize(
    ("error", "status", "title"),
    [
        (Misconfigured("SLIPWAY_SHARDS is 'canary'"), 503, "Not available now"),
        (Transient("no answer"), 502, "The cluster does not answer"),
        (Unavailable("no answer"), 503, "Not available now"),
    ],
)
async def test_an_error_has_its_status_and_no_setting_is_shown(
    error: SlipwayError, status: int, title: str
) -> None:
    @bordered
    async def handler(req: func.HttpRequest) -> func.HttpResponse:
        raise error

    answer = await handler(request())
    body = json.loads(answer.get_body())
    assert (answer.status_code, body["title"]) == (status, title)
    assert "canary" not in str(body)
    assert "SLIPWAY_SHARDS" not in str(body)


def test_an_idempotency_key_may_be_as_long_in_the_header_as_in_the_document() -> None:
    assert key_of(request({"Idempotency-Key": "k" * 256}), None) == "k" * 256
    with pytest.raises(Misuse):
        key_of(request({"Idempotency-Key": "k" * 257}), None)


def posted(kind: str | None, body: bytes = b"{}") -> func.HttpRequest:
    headers = {} if kind is None else {"content-type": kind}
    return func.HttpRequest(method="POST", url="/api/jobs", headers=headers, body=body)


@bordered
async def accept(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse(status_code=202)


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "Text/Plain; charset=utf-8", "application/x-www-form-urlencoded", "multipart/form-data"],
)
async def test_a_body_of_a_type_that_a_form_can_send_is_refused_with_the_type_to_send(kind: str) -> None:
    answered = await accept(posted(kind))

    problem = json.loads(answered.get_body())
    assert (answered.status_code, problem["title"]) == (415, "Unsupported media type")
    assert "Content-Type: application/json" in problem["remedy"]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"), ("application/octet-stream", b"{}"), (None, b"{}"), (None, b""),
        ("application/x-www-form-urlencoded", b""),
    ],
)  # fmt: skip
async def test_other_types_and_posts_without_a_body_are_taken(kind: str | None, body: bytes) -> None:
    assert (await accept(posted(kind, body))).status_code == 202


KEY = public_key()


async def entry(scene: Scene, document: object) -> func.HttpResponse:
    """The answer to ann, who asks where her job runs, behind a login node that wants certificates."""
    world = scene.world
    world.use(certificates=certificates_of(private_key()))
    world.engine.gate = "slipway-enter 7 n0 t.1"
    world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
    await world.make_pass()
    return await scene.ask("enter_job", "ann", document)


async def test_an_entry_has_a_certificate_and_its_line_in_the_trail_the_number(scene: Scene) -> None:
    answer = await entry(scene, {"rank": 0, "publicKey": KEY})

    place = json.loads(answer.get_body())["srun"]
    assert (answer.status_code, place["login"], "expires" in place) == (200, "head", True)
    assert place["certificate"].startswith("ssh-ed25519-cert-v01@openssh.com ")
    act = scene.world.activity.acts[-1]
    assert (act.by, act.operation, act.subject) == ("ann", "enter_job", scene.values["id"])
    assert act.detail.startswith("rank 0 on dev (memory), certificate ")
    assert act_of(act.line) == act


@pytest.mark.parametrize(
    "key",
    [
        *("", " ", "x", 7, None, [KEY], f"{KEY}\n", f"{KEY} ann@example.com", f"{KEY}\n{KEY}"),
        *(f'command="id" {KEY}', f"cert-authority {KEY}", KEY.partition(" ")[2], KEY.replace(" ", "  ")),
        *("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ", "ecdsa-sha2-nistp256 AAAAE2VjZHNh", KEY[:-1], f"{KEY}A"),
        *("sk-ssh-ed25519@openssh.com AAAAGnNr", f"ssh-ed25519 {'A' * 68}", f"{KEY[:-1]}\u0661"),
    ],
)
async def test_a_key_in_another_form_is_refused_and_the_job_not_entered(scene: Scene, key: object) -> None:
    answer = await entry(scene, {"publicKey": key})

    assert (answer.status_code, "ssh-keygen" in json.loads(answer.get_body())["remedy"]) == (400, True)
    assert (await scene.world.job(scene.values["id"])).entered == ()
