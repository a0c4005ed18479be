"""The team of a request at each door, what it may use, and what of that a job keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.core.caller import KEY_HOLDER, READ_ALL, SUBMIT, Caller
from shared.core.job import Drop, Job, JobState
from shared.core.job_sweeps.record import JobSweep
from shared.core.teams.document import Teams
from shared.intake.drops.drop import look_at_folder
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived, request_explained, request_validated, sweep_requested
from shared.intake.rerun import rerun
from shared.intake.teams import with_teams
from shared.lifecycle.current_teams import current_teams, forget_teams
from shared.operate.listing import jobs
from tests.unit.intake.drops.test_freeze import dropped, unpacked
from tests.unit.world import World, job_json

VISION = {
    "members": [{"user": "ann"}, {"user": "bob", "manager": True}],
    "clusters": ["dev"],
    "folders": ["vision"],
}
ANN, BOB, EVE = (Caller(name, frozenset({SUBMIT})) for name in ("ann", "bob", "eve"))


async def share(world: World, **document: Any) -> None:
    stored = await world.ports.teams.get()
    teams = Teams.model_validate({"teams": {"vision": VISION, "idle": {"clusters": []}}, **document})
    assert await world.ports.teams.put(teams, stored.etag if stored else "") is not None
    forget_teams(world.ports.memo)


async def ask(world: World, who: Caller, **members: Any) -> Job:
    request = read_request(json.dumps({"spec": job_json(), **members}).encode(), world.ports.policy.limits)
    who = await with_teams(world.ports, who)
    key = world.ports.token()
    return (await request_arrived(world.ports, request, door="http", source=who.source, key=key, who=who)).job


def errors(job: Job) -> list[tuple[str, str]]:
    return [(one["code"], one["pointer"]) for one in job.problems if one["severity"] == "error"]


async def test_without_teams_a_job_has_none_and_a_name_of_one_is_refused(world: World) -> None:
    assert (await ask(world, ANN)).team == ""
    assert errors(await ask(world, ANN, team="vision")) == [("SW113", "/team")]


async def test_a_callers_job_is_their_teams(world: World) -> None:
    await share(world)

    job = await ask(world, ANN)

    assert (job.team, job.state) == ("vision", JobState.QUEUED)
    assert errors(await ask(world, ANN, team="idle")) == [("SW113", "/team")]
    assert errors(await ask(world, EVE)) == [("SW113", "")]


async def test_a_team_uses_its_own_clusters_only(world: World) -> None:
    await share(world)

    refused = await ask(world, KEY_HOLDER, team="idle")
    assert (refused.state, errors(refused)) == (JobState.REJECTED, [("SW113", "/spec/properties/cluster")])
    assert errors(await ask(world, KEY_HOLDER, team="idle", cluster="dev")) == [("SW113", "/cluster")]
    assert (await ask(world, KEY_HOLDER, team="vision")).team == "vision"


async def test_a_message_may_name_any_team_and_has_the_default_else(world: World) -> None:
    await share(world, default="vision")

    assert (await world.message({"spec": job_json()}, "m1")).job.team == "vision"
    named = (await world.message({"spec": job_json(), "team": "idle"}, "m2")).job
    assert errors(named) == [("SW113", "/spec/properties/cluster")]


async def test_a_drop_is_the_team_s_of_its_folder(world: World) -> None:
    await share(world)
    for folder in ("vision/a/", "other/"):
        world.drops.upload(f"{folder}job.json", json.dumps(job_json()).encode())
    world.drops.upload("other/slipway.json", b'{"team": "vision"}')
    world.pass_time(60)

    (own,) = (await look_at_folder(world.ports, "vision/a/")).accepted
    (claimed,) = (await look_at_folder(world.ports, "other/")).accepted

    assert own.job.team == "vision"
    assert (claimed.job.state, errors(claimed.job)) == (JobState.REJECTED, [("SW113", "/team")])


async def test_members_list_the_jobs_of_their_team_and_others_none(world: World) -> None:
    await share(world, default=None)
    job = await ask(world, ANN)
    await world.message({"spec": job_json()}, "m1")

    async def listed(who: Caller, **conditions: str) -> list[str]:
        page = await jobs(world.ports, conditions, await with_teams(world.ports, who))
        return [one.id for one in page.jobs]

    assert await listed(ANN) == await listed(BOB) == [job.id]
    assert await listed(BOB, team="vision") == await listed(BOB, owner="ann") == [job.id]
    assert await listed(EVE) == await listed(EVE, owner="ann") == []
    assert await listed(KEY_HOLDER, team="vision") == [job.id]
    assert await listed(KEY_HOLDER, team="idle") == []


async def test_every_job_of_a_sweep_is_the_teams(world: World) -> None:
    await share(world)
    who = await with_teams(world.ports, ANN)
    body = {"sweep": {"lr": [1, 2]}, "spec": job_json()}
    request = read_request(json.dumps(body).encode(), world.ports.policy.limits)
    result = await sweep_requested(
        world.ports, request, door="http", source=who.source, key="k", name="", who=who
    )

    sweep: JobSweep = result.accepted
    assert sweep.team == "vision"
    assert [(await world.job(sweep.job_id(n))).team for n in (0, 1)] == ["vision", "vision"]


async def test_a_rerun_keeps_the_team_while_its_caller_is_in_it(world: World) -> None:
    await share(world, default=None)
    job = await ask(world, ANN)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    receipt = world.receipt(job)

    async def again(who: Caller) -> Job:
        who = await with_teams(world.ports, who)
        key = world.ports.token()
        return (await rerun(world.ports, job.id, receipt, who=who, key=key)).job

    assert (await again(BOB)).team == "vision"
    assert (await again(KEY_HOLDER)).team == "vision"
    await share(world, teams={"other": {"members": [{"user": "ann"}]}})
    assert (await again(ANN)).team == "other"


async def test_explain_names_the_problem_and_does_nothing(world: World) -> None:
    await share(world)
    who = await with_teams(world.ports, EVE)
    request = read_request(json.dumps({"spec": job_json()}).encode(), world.ports.policy.limits)

    body = await request_explained(world.ports, request, source=who.source, key=None, who=who)

    assert body["verdict"] == "rejected"
    assert [one["code"] for one in body["problems"] if one["severity"] == "error"] == ["SW113"]


READER = Caller("rita", frozenset({SUBMIT, READ_ALL}))


@pytest.mark.parametrize(
    ("who", "folder", "default", "remedy"),
    [
        (ANN, "vision/a", None, ""),
        (ANN, "job", None, "use a folder below vision/"),
        (ANN, "job", "idle", "use a folder below vision/"),
        (EVE, "vision/a", "idle", "send the job over HTTP"),
        (EVE, "job", "idle", ""),
        (EVE, "job", None, "send the job over HTTP"),
        (READER, "vision/a", None, ""),
        (KEY_HOLDER, "job", None, ""),
    ],
)
async def test_nothing_is_uploaded_into_a_folder_whose_jobs_the_caller_would_not_see(
    world: World, who: Caller, folder: str, default: str | None, remedy: str
) -> None:
    await share(world, default=default)

    assert [one["remedy"][: len(remedy)] for one in await unseen(world, who, folder)] == [remedy] * bool(
        remedy
    )


async def test_without_teams_only_those_who_see_all_jobs_see_that_of_a_folder(world: World) -> None:
    assert [one["message"] for one in await unseen(world, ANN, "job")] == [
        "jobs of this folder belong to no caller, so you could not see, follow or cancel this one"
    ]
    assert await unseen(world, READER, "job") == []


async def unseen(world: World, who: Caller, folder: str) -> list[dict[str, Any]]:
    """What is said before an upload of its job not being seen."""
    who = await with_teams(world.ports, who)
    request = read_request(json.dumps(job_json()).encode(), world.ports.policy.limits)
    drop = Drop(container="scripts", folder=folder, job_file="job.json", files={}, etags={})
    body = await request_explained(
        world.ports, request, source=who.source, key=None, drop=drop, script="", who=who
    )
    return [one for one in body["problems"] if "you could not see" in one["message"]]


async def test_the_document_is_asked_for_once_in_fifteen_seconds(world: World) -> None:
    await share(world)
    reads = 0
    get = world.ports.teams.get

    class Counting:
        async def get(self) -> Any:
            nonlocal reads
            reads += 1
            return await get()

        put = world.ports.teams.put

    world.use(teams=Counting())
    for _ in range(20):
        await current_teams(world.ports)
        world.pass_time(1)

    assert reads == 2


SPEECH = {"members": [{"user": "eve"}], "folders": ["speech"]}


@pytest.mark.parametrize("door", ["http", "validate", "explain", "queue"])
async def test_no_one_learns_what_lies_in_a_folder_of_another_team(world: World, door: str) -> None:
    await share(world, teams={"vision": VISION, "speech": SPEECH})
    for folder in ("vision", "speech"):
        world.drops.upload(f"{folder}/there.sh", b"echo\r\n")

    async def learned(name: str) -> list[str]:
        line = f"sh $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{name}"
        mount = {"accountName": "acct", "containerName": "scripts", "relativeMountPath": "scripts"}
        job = job_json(
            customToolkitSettings={"commandLine": line}, mountVolumes={"azureBlobFileSystems": [mount]}
        )
        problems = await problems_by(world, door, job)
        return [one["code"] for one in problems if one["code"] in ("SW070", "SW071")]

    assert await learned("vision/there.sh") == ["SW071"]
    assert await learned("vision/not-there.sh") == ["SW070"]
    assert await learned("speech/there.sh") == await learned("speech/not-there.sh") == []


async def problems_by(world: World, door: str, job: dict[str, Any]) -> list[dict[str, Any]]:
    """The problems of a job of a member of vision."""
    who = await with_teams(world.ports, ANN)
    if door == "queue":
        message = {"spec": job, "team": "vision"}
        return list((await world.message(message, world.ports.token())).job.problems)
    request = read_request(json.dumps({"spec": job}).encode(), world.ports.policy.limits)
    if door == "validate":
        return [one.as_dict() for one in (await request_validated(world.ports, request, who)).problems]
    if door == "explain":
        explained = await request_explained(world.ports, request, source=who.source, key=None, who=who)
        return list(explained["problems"])
    key = world.ports.token()
    accepted = await request_arrived(world.ports, request, door=door, source=who.source, key=key, who=who)
    return list(accepted.job.problems)


async def _dropped(world: World, command: str) -> list[Job]:
    """The jobs of `vision/d`, beside files of speech: one folder is even below it."""
    nested = {**SPEECH, "folders": ["speech", "vision/d/own"]}
    await share(world, teams={"vision": VISION, "speech": nested})
    line = {"commandLine": command.replace("ROOT", "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts")}
    files = {
        "speech/train.py": b"theirs",
        "vision/d/own/theirs.py": b"theirs",
        "vision/lib.py": b"ours",
        "vision/d/train.py": b"1",
        "vision/d/job.json": json.dumps(job_json(customToolkitSettings=line)).encode(),
    }
    return await dropped(world, files, "vision/d/")


async def test_a_drop_takes_no_file_along_that_lies_in_a_folder_of_another_team(world: World) -> None:
    """The members of its team read the code of the job."""
    (job,) = await _dropped(
        world, "python ROOT/vision/d/train.py; cat ROOT/vision/lib.py ROOT/speech/train.py"
    )

    assert unpacked(world, job) == {"vision/d/train.py": b"1", "vision/lib.py": b"ours"}


async def test_a_drop_neither_waits_for_a_file_of_another_team_nor_says_whether_it_is_there(
    world: World,
) -> None:
    (present,) = await _dropped(world, "python ROOT/speech/train.py")
    world.drops.upload("vision/e/train.py", b"1")
    (absent,) = await _at(world, "python ROOT/speech/TRAIN.py")

    for one, name in ((present, "train.py"), (absent, "TRAIN.py")):
        texts = [problem["message"] for problem in one.problems if problem["code"] == "SW118"]
        assert texts == [f'left out: files in folders of other teams ("speech/{name}")']
        assert "theirs" not in str(unpacked(world, one))


async def _at(world: World, command: str) -> list[Job]:
    line = {"commandLine": command.replace("ROOT", "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts")}
    body = json.dumps(job_json(customToolkitSettings=line)).encode()
    return await dropped(world, {"vision/e/job.json": body}, "vision/e/")


SPEECH = {"folders": ["speech", "vision/nested"], "quota": {"nodes": 2}, "containers": ["speech-data"]}


async def test_a_drop_names_no_dropped_document_of_another_team(world: World) -> None:
    """It may hold secrets, which its jobs would have."""
    await share(world, teams={"vision": VISION, "speech": SPEECH})
    document = json.dumps(job_json(secrets=[{"name": "TOKEN", "value": "canary"}])).encode()
    named = json.dumps({"specBlob": "scripts/speech/p/job.json"}).encode()

    world.drops.upload("speech/p/job.json", document)
    (theirs,) = await dropped(world, {"vision/d/job.json": named}, "vision/d/")
    (ours,) = await dropped(world, {"speech/d/job.json": named}, "speech/d/")

    assert (theirs.state, ours.state) == (JobState.REJECTED, JobState.QUEUED)
    assert [one["code"] for one in theirs.problems if one["severity"] == "error"] == ["SW106"]
    assert "canary" not in str(theirs)


@pytest.mark.parametrize(("above", "runs"), [("vision/", 0), ("vision/nested/", 1), ("", 1)])
async def test_a_template_of_another_team_makes_no_job(world: World, above: str, runs: int) -> None:
    await share(world, teams={"vision": VISION, "speech": SPEECH})
    template = job_json(pyTorchSettings={"pythonScriptFilePath": "<SLIPWAY_SCRIPT>"})
    files = {f"{above}job.json": json.dumps(template).encode(), "vision/nested/a/run.py": b"1"}

    assert len(await dropped(world, files, "vision/nested/a/")) == runs


async def test_an_explanation_for_a_folder_of_another_team_judges_by_nothing_of_that_team(
    world: World,
) -> None:
    await share(world, teams={"vision": VISION, "speech": SPEECH})
    who = await with_teams(world.ports, ANN)
    mount = {"accountName": "account", "containerName": "speech-data", "relativeMountPath": "x"}
    spec = job_json(nodeCount=3, mountVolumes={"azureBlobFileSystems": [mount]})
    request = read_request(json.dumps({"spec": spec}).encode(), world.ports.policy.limits)
    drop = Drop(container="scripts", folder="speech/x", job_file="job.json", files={}, etags={})

    body = await request_explained(world.ports, request, source="", key=None, drop=drop, who=who)

    assert "SW113" in {one["code"] for one in body["problems"]}
    assert "quota" not in str(body["problems"])
    assert "speech-data is" not in str(body["problems"])


@pytest.mark.parametrize("need", ["nested/z.txt", "*/z.txt"])
async def test_no_file_of_another_team_meets_a_need_or_is_named(world: World, need: str) -> None:
    await share(world, teams={"vision": VISION, "speech": SPEECH})
    needs = {"vision/slipway.json": json.dumps({"needs": [need]}).encode(), "vision/train.py": b"1"}
    body = {"vision/job.json": json.dumps(job_json()).encode(), "vision/nested/z.txt": b"theirs"}

    assert await dropped(world, needs | body, "vision/") == []
    result = await look_at_folder(world.ports, "vision/")
    assert "job.json of its own" not in result.waits
    assert "waits for" in result.waits
