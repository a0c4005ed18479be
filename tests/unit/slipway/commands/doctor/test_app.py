"""What `slipway doctor` finds out about a deployment: from an app that answers like ours, and others."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from shared import __version__
from shared.answers.mark import MARK, MARKED
from shared.setting_table.functions_off import DROP, NEEDED, SWEEPER, functions_off
from slipway.client.deployment import PROFILE
from slipway.client.profiles import Profile, Profiles, file_of, write_profiles
from slipway.commands.doctor.app import check, clock
from slipway.commands.doctor.findings import Finding, Options
from tests.doubles.server import Answer, answering, as_slipway

HEALTH: dict[str, Any] = {
    **{"status": "ok", "storage": "ok", "clusters": {"ok": 1}, "sweeper": "ok", "settings": "ok"},
    **{"paused": False, "unreadable": 0, "parked": 0, "off": []},
}
CLUSTER = {"name": "dev", "state": "steady", "nodes": 1, "errors": []}
SILENT = {"name": "far", "error": "no answer", "since": "2026-11-20T10:00:00+00:00"}


@pytest.fixture(autouse=True)
def nothing_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("slipway.settings._USUAL", "http://127.0.0.1:9")
    for module in ("slipway.settings", "slipway.commands.doctor.app"):
        monkeypatch.setattr(f"{module}.UP", tmp_path)
    for name in (PROFILE, "SLIPWAY_URL", "SLIPWAY_KEY"):
        monkeypatch.delenv(name, raising=False)


def app(
    health: dict[str, Any] | None = None,
    clusters: Any = (CLUSTER,),
    version: str = __version__,
    ahead: float = 0,
) -> Answer:
    """An app with the key "right", whose clock is so many seconds behind the one here."""

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/api/health":
            assert "x-functions-key" not in request.headers, "it needs none"
            body = {**HEALTH, **(health or {})}
            body["sweeper"] = "off" if SWEEPER in body["off"] else body["sweeper"]
            bad = {body[name] for name in ("storage", "sweeper")} != {"ok"}
            bad = bad or not set(NEEDED).isdisjoint(body["off"])
            date = formatdate(datetime.now(UTC).timestamp() - ahead, usegmt=True)
            return web.json_response(body, status=503 if bad else 200, headers={"Date": date})
        if request.headers.get("x-functions-key") != "right":
            return web.Response(status=401)
        if request.path == "/api/openapi.json":
            return web.json_response({"info": {"version": version}})
        return web.json_response({"clusters": [*clusters]})

    return answer


async def findings_of(answer: Answer, key: str = "right") -> list[Finding]:
    async with answering(as_slipway(answer)) as url:
        return await check(Options(url, key))


def outcomes(findings: list[Finding]) -> dict[str, str]:
    return {one.subject: one.outcome for one in findings}


async def test_an_app_that_is_well_is_ok_in_every_line() -> None:
    findings = await findings_of(app())

    assert [one.subject for one in findings] == ["address", "app", "clock", "key", "version", "cluster"]
    assert {one.outcome for one in findings} == {"ok"}
    assert "by --url, key of --key" in findings[0].text


@pytest.mark.parametrize(
    ("part", "outcome", "text"),
    [
        ({"storage": "does not answer"}, "fail", "storage account does not answer"),
        ({"storage": "refuses writes"}, "fail", "answers reads and refuses writes"),
        ({"off": ["sweeper"]}, "fail", "its host does not run sweeper, so jobs"),
        ({"sweeper": "fails"}, "fail", "last pass over the jobs failed"),
        ({"settings": "wrong"}, "warn", "refuses its settings"),
        ({"paused": True}, "warn", "submissions are paused"),
        ({"unreadable": 2}, "warn", "2 rows that cannot be read"),
        ({"off": ["submit_job", "get_file"]}, "warn", "its host does not run submit_job, get_file"),
        ({"parked": 3}, "warn", "3 jobs that wait for a repair"),
    ],
)
async def test_each_part_that_an_app_complains_of_is_a_line_with_a_remedy(
    part: dict[str, Any], outcome: str, text: str
) -> None:
    (line,) = [one for one in await findings_of(app(part)) if one.subject == "app" and one.outcome != "ok"]

    assert (line.outcome, bool(line.remedy)) == (outcome, True)
    assert text in line.text


@pytest.mark.parametrize(
    ("clusters", "lines"),
    [
        ({"ok": 13}, []),
        ({"ok": 12, "misconfigured": 1}, ["1 of 13 refuse its settings or are not there"]),
        (
            {"ok": 10, "does not answer": 2, "misconfigured": 1},
            ["2 of 13 do not answer", "1 of 13 refuse its settings or are not there"],
        ),
        ({"slow": 1}, []),
        ("ok", []),
    ],
)
async def test_clusters_that_an_app_does_not_reach_are_counted_beside_an_app_that_works(
    clusters: Any, lines: list[str]
) -> None:
    findings = await findings_of(app({"clusters": clusters}))

    assert outcomes(findings)["app"] == "ok"
    failures = [one for one in findings if one.outcome == "fail"]
    assert [one.text for one in failures] == [f"{line}, so their jobs wait" for line in lines]
    assert all(one.subject == "clusters" and one.remedy for one in failures)


@pytest.mark.parametrize("name", NEEDED)
async def test_a_function_that_jobs_need_and_the_host_does_not_run_is_one_failure(name: str) -> None:
    lines = [one for one in await findings_of(app({"off": [name, "get_file"]})) if one.subject == "app"]

    assert [one.outcome for one in lines] == ["fail", "warn"]
    assert all(one.remedy.startswith("remove its setting AzureWebJobs.NAME.Disabled") for one in lines)
    assert f"its host does not run {name}, so jobs" in lines[0].text
    assert lines[1].text.endswith("its host does not run get_file")


@pytest.mark.parametrize(
    "settings",
    [{"WEBSITE_SKU": "FlexConsumption"}, {"AzureWebJobs.accept_drop.Disabled": "true"}],
)
async def test_the_trigger_of_blobs_that_does_not_run_is_a_warning_with_the_settings_that_stop_it(
    settings: dict[str, str],
) -> None:
    scans = {"SLIPWAY_BLOB_SOURCE": "LogsAndContainerScan"}
    (cause,) = functions_off({**settings, **scans}).values()
    (line,) = [one for one in await findings_of(app({"off": [DROP]})) if one.outcome != "ok"]

    assert (line.outcome, line.subject) == ("warn", "app")
    assert any(name in line.remedy for name in (*settings, *scans) if name in cause)
    assert "AzureWebJobs.NAME" not in line.remedy


@pytest.mark.parametrize("part", [{}, {"paused": True}, {"settings": "wrong"}, {"off": ["get_file"]}])
async def test_an_app_that_is_not_ready_is_a_failure_beside_all_else_it_says(part: dict[str, Any]) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/api/health":
            return web.json_response({**HEALTH, **part}, status=503)
        return await app()(request)

    lines = [one for one in await findings_of(answer) if one.subject == "app"]
    assert [one.text for one in lines if one.outcome == "fail"] == ["it answers that it is not ready"]
    assert len(lines) == 1 + len(part)


async def test_an_app_that_connects_no_cluster_works_and_says_that_jobs_wait() -> None:
    """So is a new deployment: its health names the missing cluster as it does a refused one."""
    findings = await findings_of(app({"clusters": {"misconfigured": 1}}, clusters=()))

    assert outcomes(findings)["cluster"] == "warn"
    assert [one for one in findings if one.outcome == "fail"] == []


async def test_an_app_without_a_cluster_whose_storage_is_silent_does_not_work() -> None:
    parts = {"clusters": {"misconfigured": 1}, "storage": "does not answer"}
    findings = await findings_of(app(parts, clusters=()))

    assert [one.text for one in findings if one.outcome == "fail"] == ["its storage account does not answer"]


async def test_a_wrong_key_is_a_failure_that_names_the_remedy_and_not_the_key() -> None:
    findings = await findings_of(app(), key="topsecret")

    (line,) = [one for one in findings if one.outcome == "fail"]
    assert line.subject == "key"
    assert "slipway login" in line.text
    assert "topsecret" not in str(findings)


async def test_another_version_is_a_warning() -> None:
    assert outcomes(await findings_of(app(version="9.9.9")))["version"] == "warn"


async def test_a_cluster_that_does_not_answer_is_named_with_the_time() -> None:
    findings = await findings_of(
        app(clusters=[CLUSTER, SILENT, {**CLUSTER, "name": "full", "errors": ["no quota"]}])
    )

    clusters = [one for one in findings if one.subject == "cluster"]
    assert [one.outcome for one in clusters] == ["ok", "fail", "warn"]
    assert clusters[1].text.startswith("far cannot be queried since 2026-11-20 ")
    assert clusters[2].text == "full: no quota"


@pytest.mark.parametrize(("ahead", "outcome"), [(0, "ok"), (-20, "ok"), (60, "warn"), (-900, "fail")])
async def test_the_clock_of_the_app_is_compared(ahead: float, outcome: str) -> None:
    assert outcomes(await findings_of(app(ahead=ahead)))["clock"] == outcome


def test_which_clock_is_ahead_is_said() -> None:
    assert "is 400 s behind" in clock(-400).text
    assert "is 400 s ahead of" in clock(400).text


async def test_an_app_that_no_one_chose_need_not_be_there_and_a_chosen_one_does(tmp_path: Path) -> None:
    (tmp_path / "url").touch()  # as a stack leaves it that was killed
    (stack_ended,) = [one for one in await check(Options("", "")) if one.subject == "app"]
    (tmp_path / "url").unlink()
    named = await check(Options("http://127.0.0.1:9", ""))
    write_profiles(file_of(os.environ), Profiles().with_profile("far", Profile("http://127.0.0.1:9", "k")))
    of_profile = await check(Options("", ""))

    assert stack_ended.outcome == "fail"
    assert outcomes(named) == outcomes(of_profile) == {"address": "ok", "app": "fail"}
    assert "by the profile, key of the profile" in of_profile[0].text


async def test_without_any_choice_a_silent_usual_address_is_a_warning() -> None:
    assert outcomes(await check(Options("", ""))) == {"address": "ok", "app": "warn"}


async def test_another_service_is_not_taken_for_slipway() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"status": "UP"})

    (line,) = [one for one in await findings_of(answer) if one.subject == "app"]
    assert line.outcome == "fail"
    assert "not as Slipway does" in line.text


async def test_an_app_that_refuses_for_its_settings_is_slipway_and_says_so_itself() -> None:
    async def answer(_: web.Request) -> web.Response:
        body = {"detail": "this deployment is misconfigured", "remedy": "the log names the setting"}
        return web.json_response(body, status=503, headers={MARK: MARKED})

    (line,) = [one for one in await findings_of(answer) if one.subject == "app"]
    assert line.outcome == "fail"
    assert line.text.endswith("answers 503: this deployment is misconfigured; the log names the setting")


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://ann:topsecret@127.0.0.1:9", "without a key in it"),
        ("http://slipway.example.invalid", "plain http shows the key"),
    ],
)
async def test_an_address_that_gives_a_key_away_is_a_failure(url: str, text: str) -> None:
    findings = await check(Options(url, "topsecret"))

    assert findings[0].outcome == "fail"
    assert text in f"{findings[0].text}; {findings[0].remedy}"
    assert "topsecret" not in str(findings)
