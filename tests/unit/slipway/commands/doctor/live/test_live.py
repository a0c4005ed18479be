"""The whole of `--live`: what it needs to begin, and what becomes of a point that cannot be proved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slipway.commands.doctor.findings import Finding, Options
from slipway.commands.doctor.live import live
from slipway.commands.doctor.live.azd import deployment_of, environment, read
from slipway.failure import Failure
from tests.doubles.server import answering
from tests.unit.slipway.commands.doctor.live import deployed
from tests.unit.slipway.commands.doctor.live.azure import azure


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which azd has an environment; nothing else names a deployment."""
    monkeypatch.chdir(tmp_path)
    for name in ("AZURE_ENV_NAME", "SLIPWAY_URL", "SLIPWAY_KEY", "SLIPWAY_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    deployed.environment(tmp_path, SLIPWAY_URL="https://func-1.azurewebsites.net")
    return tmp_path


async def open_to_all(_: web.Request) -> web.Response:
    return web.json_response({"jobs": []})


async def closed(_: web.Request) -> web.Response:
    return web.json_response({"detail": "no key"}, status=401)


async def findings(
    url: str, changed: dict[str, Any], patch: pytest.MonkeyPatch, folder: Path
) -> dict[str, Finding]:
    settings = folder / "settings.json"
    settings.write_text('{"Values": {"SLIPWAY_STORAGE": "no connection string"}}')
    async with azure(deployed.answers() | changed, patch) as fake:
        results = await live.check(Options(url, "", settings, arm=fake.url))
    return {one.subject: one for one in results}


async def test_a_door_without_a_key_fails(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with answering(open_to_all) as url:
        before = await findings(url, {}, monkeypatch, clone)
    async with answering(closed) as url:
        after = await findings(url, {}, monkeypatch, clone)

    assert (before["refusal"].outcome, after["refusal"].outcome) == ("fail", "ok")


async def test_what_this_caller_may_not_see_is_not_checked_and_what_is_absent_fails(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbidden = (403, "AuthorizationFailed", "The client does not have authorization.")
    absent = (404, "ResourceNotFound", "The Resource was not found.")
    strange = {"value": [{"name": 1}]}
    changed = {deployed.QUERY: forbidden, deployed.EVENTS: absent, deployed.DEPLOYMENTS: strange}

    async with answering(closed) as url:
        results = await findings(url, changed, monkeypatch, clone)

    outcomes = [results[name].outcome for name in ("telemetry", "events", "deployment")]
    assert outcomes == ["skip", "fail", "fail"]
    assert "not checked: Azure answers 403 AuthorizationFailed" in results["telemetry"].text
    assert "404 ResourceNotFound" in results["events"].text
    assert "differs from its documentation" in results["deployment"].text


async def test_what_no_command_proves_is_named_with_what_to_do(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with answering(closed) as url:
        results = await findings(url, {}, monkeypatch, clone)

    assert list(results) == [*live.POINTS, *live.BY_HAND]
    assert {results[name].outcome for name in live.BY_HAND} == {"skip"}


async def test_the_key_of_one_deployment_goes_to_no_other(clone: Path) -> None:
    (finding,) = await live.check(Options("", ""))

    assert finding.outcome == "fail"
    assert "azd deployed https://func-1.azurewebsites.net" in finding.text
    assert "slipway login https://func-1.azurewebsites.net" in finding.text


async def test_a_key_is_not_shown_on_the_way(clone: Path) -> None:
    (finding,) = await live.check(Options("http://app.example", "k"))

    assert (finding.outcome, "give an https address" in finding.text) == ("fail", True)


async def test_without_an_environment_of_azd_it_says_how_to_have_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    (finding,) = await live.check(Options("", ""))

    assert (finding.outcome, "`azd env new NAME`" in finding.text) == ("fail", True)


def test_an_environment_that_was_not_provisioned_says_what_to_run() -> None:
    with pytest.raises(Failure, match=r"lacks AZURE_RESOURCE_GROUP, .*run `azd provision`"):
        deployment_of({"AZURE_SUBSCRIPTION_ID": "s-1"})


@pytest.mark.parametrize("name", ["../other", "..", "a/b", "a b"])
def test_a_name_never_leads_out_of_the_folder_of_azd(clone: Path, name: str) -> None:
    with pytest.raises(Failure, match="not the name of an environment"):
        environment(clone, {"AZURE_ENV_NAME": name})


@pytest.mark.parametrize("name", ["func/../../x", "..", "a?b"])
def test_a_resource_s_name_never_becomes_another_path(name: str) -> None:
    with pytest.raises(Failure, match="not the name of a resource"):
        deployment_of(deployed.VALUES | {"AZURE_FUNCTION_APP_NAME": name})


def test_an_environment_is_read_as_azd_writes_it() -> None:
    text = 'A="1"\nB="a \\"quoted\\" \\$x"\n# no value\nC=5\n'

    assert read(text) == {"A": "1", "B": 'a "quoted" $x', "C": "5"}
