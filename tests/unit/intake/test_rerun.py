"""Exactly the same again, or a refusal that names what is not the same."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from shared.core.caller import ADMIN, KEY_HOLDER, READ_ALL, SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.job import Job, JobState, Reason
from shared.core.teams.document import Teams
from shared.intake.arrive import blob_arrived
from shared.intake.rerun import rerun
from shared.lifecycle.archive import archive
from shared.operate.ends.cancel import cancel
from shared.operate.entry import enter
from tests.unit.archived_code import archived
from tests.unit.world import World, job_json

SCRIPT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/run/train.py"
HOOK = {"url": "https://hooks.example.com/x?code=canary-42", "events": ["failed"]}

ENVELOPE = {"name": "mine", "notify": [HOOK], "retry": {"infrastructure": 0, "user": 2}}


#: A job that mounts its scripts itself, so that it has no code of its own.
LIVE = {
    "mountVolumes": {
        "azureBlobFileSystems": [
            {"accountName": "acct", "containerName": "scripts", "relativeMountPath": "scripts"}
        ]
    }
}


async def _ran(world: World, **properties: Any) -> Job:
    document = job_json(
        customToolkitSettings={"commandLine": f"python {SCRIPT}"},
        secrets=[{"name": "TOKEN", "value": "canary-4711"}],
        **properties,
    )
    world.drops.upload("digits/run/train.py", b"print(1)")
    world.drops.upload("digits/run/slipway.json", json.dumps(ENVELOPE).encode())
    world.drops.upload("digits/run/job.json", json.dumps(document).encode())
    world.pass_time(10)
    job = (await blob_arrived(world.ports, "scripts", "digits/run/job.json")).accepted[0].job
    for state in (JobState.RUNNING, JobState.SUCCEEDED):
        world.engine.set_state(world.engine.started[0], state)
        await world.make_pass()
    return await world.job(job.id)


async def _again(world: World, job: Job, key: str = "k", **changes: Any) -> Job:
    receipt = {**world.receipt(job), **changes}
    return (await rerun(world.ports, job.id, receipt, who=KEY_HOLDER, key=key)).job


async def test_the_engine_gets_the_same_document_and_the_same_people_are_notified(world: World) -> None:
    first = await _ran(world)
    world.drops.upload("digits/run/job.json", b"{}")  # what was accepted counts, not what lies there now
    world.drops.upload("digits/run/slipway.json", b"{}")

    second = await _again(world, first)

    assert second.state is JobState.QUEUED, second.problems
    assert second.id != first.id
    assert (second.name, second.experiment, second.door) == ("mine", "digits", "rerun")
    assert second.rerun_of == first.id
    assert second.retry == first.retry
    assert first.retry.user == 2
    before, after = (_without_ours(order.document) for order in world.engine.orders)
    assert before == after
    assert "canary-4711" in str(after)
    world.engine.set_state(world.engine.started[1], JobState.FAILED)
    await world.make_pass()
    assert world.webhooks.posts[-1][0] == HOOK["url"]
    assert "canary" not in str(world.ledger.rows) + str(world.drops.receipt_files)
    assert world.receipt(second)["rerunOf"] == first.id
    assert second.receipt.startswith("digits/run/mine-")


async def test_a_job_runs_again_without_its_receipt(world: World) -> None:
    first = await _ran(world)

    again = (await rerun(world.ports, first.id, None, who=KEY_HOLDER, key="k")).job

    assert (again.rerun_of, again.state) == (first.id, JobState.QUEUED)
    before, after = (_without_ours(order.document) for order in world.engine.orders)
    assert before == after


async def _goes_on(world: World, job: Job, key: str = "k") -> Job:
    return (await rerun(world.ports, job.id, None, who=KEY_HOLDER, key=key, resumes=True)).job


async def test_a_job_goes_on_from_what_another_one_saved_and_so_do_its_attempts(world: World) -> None:
    first = await _ran(world)

    again = await _goes_on(world, first)
    world.engine.set_state(world.engine.started[-1], JobState.FAILED, reason=Reason.USER)
    await world.make_pass()
    await world.make_pass(3600)

    assert (again.rerun_of, again.resumes, again.state) == (first.id, first.id, JobState.QUEUED)
    assert [order.resumes for order in world.engine.orders] == ["", first.id, first.id]
    assert world.receipt(await world.job(again.id))["resumes"] == first.id
    with pytest.raises(Misuse, match="another"):  # the same key, to begin anew
        await rerun(world.ports, first.id, None, who=KEY_HOLDER, key="k")


async def test_a_job_of_which_nothing_is_saved_or_all_may_change_is_not_gone_on_from(world: World) -> None:
    unstarted = (await world.message(job_json(), "unstarted")).job
    await cancel(world.ports, unstarted.id)
    world.engine.set_state(world.engine.started[-1], JobState.CANCELLED)
    await world.make_pass()
    running = (await world.message(job_json(), "running")).job
    world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
    await world.make_pass()

    for job, reason in ((unstarted, "never ran"), (running, "is running, and may still save")):
        with pytest.raises(Misuse, match=reason) as refused:
            await _goes_on(world, job)
        assert (refused.value.status, bool(refused.value.remedy)) == (409, True)


async def test_an_archived_job_has_nothing_to_go_on_from(world: World) -> None:
    first = await _ran(world)
    world.pass_time(31 * 86_400)
    assert (await archive(world.ports)).jobs == 1

    with pytest.raises(Misuse, match="is archived, and what it saved is removed") as refused:
        await _goes_on(world, first)
    assert refused.value.status == 409


async def test_what_an_active_job_goes_on_from_stays_until_its_end(world: World) -> None:
    first = await _ran(world)
    world.pass_time(31 * 86_400)
    await _goes_on(world, first)

    assert (await archive(world.ports)).jobs == 0
    assert list(world.engine.forgotten) == []

    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    assert (await archive(world.ports)).jobs == 1


async def test_the_same_key_joins_and_another_key_runs_once_more(world: World) -> None:
    first = await _ran(world)
    assert (await _again(world, first, "a")).id == (await _again(world, first, "a")).id
    assert (await _again(world, first, "b")).id != (await _again(world, first, "a")).id
    assert len(world.engine.started) == 3


async def test_a_rerun_can_be_run_again(world: World) -> None:
    first = await _ran(world)
    second = await _again(world, first)
    world.engine.set_state(world.engine.started[1], JobState.SUCCEEDED)
    await world.make_pass()
    assert (await _again(world, await world.job(second.id), "c")).state is JobState.QUEUED


async def test_a_script_that_has_changed_is_named(world: World) -> None:
    job = await _ran(world, **LIVE)
    world.drops.upload("digits/run/train.py", b"print(2)")
    with pytest.raises(Misuse, match=r"scripts/digits/run/train\.py has changed") as caught:
        await _again(world, job)
    assert caught.value.status == 409
    assert caught.value.remedy.startswith("upload the version with SHA-256 ")
    assert "or send the job again by the door that it came through" in caught.value.remedy
    assert len(world.engine.started) == 1


async def test_a_job_with_code_of_its_own_runs_that_after_any_edit_of_its_folder(world: World) -> None:
    first = await _ran(world)
    world.drops.upload("digits/run/train.py", b"print(2)")
    del world.drops.blobs["digits/run/slipway.json"]

    second = await _again(world, first)

    assert first.code is not None
    assert second.code == first.code
    assert second.state is JobState.QUEUED


async def test_a_script_that_is_gone_is_named(world: World) -> None:
    job = await _ran(world, **LIVE)
    del world.drops.blobs["digits/run/train.py"]
    with pytest.raises(Misuse, match=r"scripts/digits/run/train\.py is gone") as caught:
        await _again(world, job)
    assert (caught.value.status, caught.value.remedy.partition(",")[0]) == (409, "upload it again as it was")


@pytest.mark.parametrize(
    "changes",
    [{"accepted": {"properties": {"nodeCount": 9}}}, {"spec": {"sha256": "0" * 64}}, {"spec": None}],
    ids=["document", "digest", "nothing"],
)
async def test_a_receipt_that_was_edited_is_refused(world: World, changes: dict[str, Any]) -> None:
    job = await _ran(world)
    with pytest.raises(Misuse, match="was edited") as caught:
        await _again(world, job, **changes)
    assert caught.value.status == 409
    assert caught.value.remedy.startswith("use the receipt as it is in the container of receipts; ")


async def test_a_receipt_of_another_job_or_deployment_is_refused(world: World) -> None:
    job = await _ran(world)
    with pytest.raises(Misuse, match="another job") as caught:
        await _again(world, job, id="j_other")
    assert (caught.value.status, caught.value.remedy) == (409, "name the receipt's own job")
    with pytest.raises(Misuse, match="no job j_other") as caught:
        await rerun(world.ports, "j_other", world.receipt(job), who=KEY_HOLDER, key="k")
    assert (caught.value.status, caught.value.remedy) == (404, "ask the deployment that ran it")


async def test_an_empty_object_is_no_receipt_and_runs_the_job_again_each_time(world: World) -> None:
    job = await _ran(world)

    once, again = [
        (await rerun(world.ports, job.id, {}, who=KEY_HOLDER, key=f"once:{number}")).job for number in "12"
    ]

    assert {once.rerun_of, again.rerun_of} == {job.id}
    assert once.id != again.id


@pytest.mark.parametrize("body", [{"key": "k"}, {"id": 7}, {"id": None, "spec": {}}])
async def test_what_is_not_a_receipt_is_refused_as_such(world: World, body: dict[str, Any]) -> None:
    job = await _ran(world)

    with pytest.raises(Misuse, match="is not a receipt") as caught:
        await rerun(world.ports, job.id, body, who=KEY_HOLDER, key="k")

    assert (caught.value.status, caught.value.remedy) == (400, "send receipt.json as it is, or no body")


async def test_what_was_rejected_cannot_run_again(world: World) -> None:
    job = (await world.message(job_json(nodeCount=-1))).job
    with pytest.raises(Misuse, match="was rejected") as caught:
        await _again(world, job)
    assert (caught.value.status, caught.value.remedy) == (409, "correct the document and send it again")


async def test_what_has_lost_its_document_cannot_run_again(world: World) -> None:
    job = await _ran(world)
    receipt = world.receipt(job)
    (key,) = [key for key in world.ledger.held if key[1] == f"s|{job.id}"]
    del world.ledger.held[key]

    with pytest.raises(Misuse, match="nothing has run"):
        await rerun(world.ports, job.id, receipt, who=KEY_HOLDER, key="k")


async def test_a_job_that_no_one_dropped_runs_again_for_those_who_asked_to_be_notified(world: World) -> None:
    plain = {"url": "https://hooks.example.com", "events": ["queued"]}
    first = (await world.message({"spec": job_json(), "notify": [plain]})).job
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    world.webhooks.posts.clear()

    second = await _again(world, first)

    assert (second.state, second.drop, second.resources) == (JobState.QUEUED, None, {})
    await world.wake()
    assert [url for url, _, _ in world.webhooks.posts] == [plain["url"]]


async def test_the_scripts_of_now_are_those_of_the_new_job_and_its_other_files_are_not(world: World) -> None:
    first = await _ran(world, **LIVE)
    uploaded = world.drops.upload("digits/run/train.py", b"print(1)")

    drop = (await _again(world, first)).drop

    assert drop is not None
    assert first.drop is not None
    assert drop.etags == {"digits/run/train.py": uploaded.etag}
    assert drop.files == {"digits/run/train.py": first.drop.files["digits/run/train.py"]}


def _without_ours(document: dict[str, Any]) -> dict[str, Any]:
    properties = dict(document["properties"])
    properties.pop("environmentVariables")
    return properties


# whose secrets

READER = Caller("bob", frozenset({SUBMIT, READ_ALL}), teams=MappingProxyType({"speech": False}))


@pytest.mark.parametrize(
    "envelope",
    [
        {"spec": job_json(secrets=[{"name": "TOKEN", "value": "canary-4711"}])},
        {"spec": job_json(), "notify": [HOOK]},
    ],
    ids=["in the document", "in the address of a receiver"],
)
async def test_the_secrets_of_a_team_run_again_only_for_those_who_may_submit_for_it(
    world: World, envelope: dict[str, Any]
) -> None:
    teams = {name: {"members": [{"user": user}]} for name, user in (("vision", "ann"), ("speech", "bob"))}
    assert await world.ports.teams.put(Teams.model_validate({"default": "vision", "teams": teams}), "")
    job = await _ended(world, envelope)
    assert job.team == "vision"

    with pytest.raises(Misuse, match="has secrets of the team vision") as refused:
        await rerun(world.ports, job.id, world.receipt(job), who=READER, key="k")
    assert (refused.value.status, "secrets of your own" in str(refused.value.remedy)) == (403, True)

    # What every job of the deployment has is not a secret of the team.
    world.policy(default_notify=(HOOK,))
    again = rerun(world.ports, job.id, world.receipt(job), who=READER, key="k")
    if "notify" in envelope:
        assert (await again).job.team == "speech"
    else:
        with pytest.raises(Misuse, match="has secrets"):
            await again

    for who in (
        replace(READER, id="ann", teams=MappingProxyType({"vision": False})),
        replace(READER, id="root", roles=frozenset({ADMIN}), teams=MappingProxyType({})),
    ):
        accepted = await rerun(world.ports, job.id, world.receipt(job), who=who, key=who.id)
        assert accepted.job.team == "vision"


async def test_a_job_without_secrets_runs_again_for_everyone_who_sees_it(world: World) -> None:
    job = await _ended(world, {"spec": job_json()})

    accepted = await rerun(world.ports, job.id, world.receipt(job), who=READER, key="k")

    assert accepted.job.rerun_of == job.id
    assert not [note for note in accepted.notes if "team" in note]


async def test_who_runs_code_of_another_team_as_their_own_team_s_is_told(world: World) -> None:
    teams = {name: {"members": [{"user": user}]} for name, user in (("vision", "ann"), ("speech", "bob"))}
    assert await world.ports.teams.put(Teams.model_validate({"default": "vision", "teams": teams}), "")
    job = await _ended(world, {"spec": job_json(), "code": archived(world)})
    both = replace(READER, teams=MappingProxyType({"speech": False, "vision": False}))

    for _ in range(2):  # a repeated request is told, too
        accepted = await rerun(world.ports, job.id, None, who=READER, key="k")
        assert (accepted.job.team, accepted.job.code) == ("speech", job.code)
        assert (
            f"warning: the document and the code are those of {job.id}, a job of the team vision, in which "
            "you are not; the new job, its files and its log are of the team speech"
        ) in accepted.notes
    within = await rerun(world.ports, job.id, None, who=both, key="k2")

    assert within.job.team == "vision"
    assert not [note for note in within.notes if "team" in note]


async def _ended(world: World, envelope: dict[str, Any]) -> Job:
    job = (await world.message(envelope)).job
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    return job


async def test_a_rerun_of_a_job_that_was_entered_says_that_its_document_may_not_be_all(world: World) -> None:
    job = (await world.message(job_json())).job
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    before = await rerun(world.ports, job.id, None, who=KEY_HOLDER, key="a")

    await enter(world.ports, job.id, 0, KEY_HOLDER)
    after = await rerun(world.ports, job.id, None, who=KEY_HOLDER, key="b")

    (note,) = set(after.notes) - set(before.notes)
    assert note.startswith(f"warning: {job.id} was entered while it ran, by the holder of a function key")
    assert after.job.entered == ()
