"""What `slipway doctor` finds in profiles, environment and settings."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from aiohttp import web
from typer.testing import CliRunner

from shared.settings import Settings
from slipway.client.profiles import Profile, Profiles, file_of, write_profiles
from slipway.commands.doctor import configuration
from slipway.commands.doctor.findings import Finding, Options
from slipway.main import app
from tests.doubles.server import answering

SECRET = "c2VjcmV0LWtleS1vZi10aGUtYWNjb3VudA=="
STORAGE = (
    f"DefaultEndpointsProtocol=http;AccountName=a;AccountKey={SECRET};BlobEndpoint=http://127.0.0.1:9/a;"
    "QueueEndpoint=http://127.0.0.1:9/a;TableEndpoint=http://127.0.0.1:9/a"
)


def settings_of(file: Path, values: dict[str, str], mode: int = 0o600) -> list[Finding]:
    file.write_text(json.dumps({"Values": values}))
    file.chmod(mode)
    return [
        one
        for one in asyncio.run(configuration.check(Options("", "", file)))
        if one.subject in {"settings", "storage"}
    ]


@pytest.fixture
def config(tmp_path: Path) -> dict[str, str]:
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    write_profiles(file_of(environment), Profiles().with_profile("prod", Profile("https://x", "topsecret")))
    return environment


def test_profiles_are_for_their_owner_only(config: dict[str, str]) -> None:
    file = file_of(config)
    (well,) = configuration.profiles(config)
    file.parent.chmod(0o777)
    (folder,) = configuration.profiles(config)
    file.chmod(0o644)
    (readable,) = configuration.profiles(config)

    assert (well.outcome, folder.outcome, readable.outcome) == ("ok", "fail", "fail")
    assert "1 in" in well.text
    assert folder.remedy == f"chmod 700 {file.parent}"
    assert f"chmod 600 {file}" in readable.text
    assert "topsecret" not in str([well, folder, readable])


def test_no_profile_is_nothing_wrong(tmp_path: Path) -> None:
    assert [one.outcome for one in configuration.profiles({"XDG_CONFIG_HOME": str(tmp_path)})] == ["ok"]


def test_a_misspelt_variable_is_named_without_its_value() -> None:
    names = {"SLIPWAY_URL": "x", "SLIPWAY_STORAGE__blobServiceUri": "x", "SLIPWAY_PROFILE": "x", "HOME": "/"}

    (typo, strange) = configuration.environment({**names, "SLIPWAY_STORGE": SECRET, "SLIPWAY_XYZZY": SECRET})

    assert (typo.outcome, typo.remedy) == ("warn", "did you mean SLIPWAY_STORAGE?")
    assert "SLIPWAY_XYZZY" in strange.text
    assert SECRET not in str([typo, strange])
    assert configuration.environment(names) == []


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"SLIPWAY_SHARDS": "many"}, "SLIPWAY_SHARDS must be a number"),
        ({"SLIPWAY_RETENTION_DAYS": "1"}, "SLIPWAY_RETENTION_DAYS"),
        ({"SLIPWAY_CLUSTERS": '{"a": {"engine": "cray"}}'}, "engine is one of"),
        ({"SLIPWAY_WEBHOOK_SECRETS": SECRET}, "SLIPWAY_WEBHOOK_SECRETS is not JSON"),
    ],
)
def test_settings_that_make_no_sense_are_a_failure(values: dict[str, str], text: str, tmp_path: Path) -> None:
    (line,) = settings_of(tmp_path / "s.json", {"SLIPWAY_STORAGE": STORAGE, **values})

    assert line.outcome == "fail"
    assert text in line.text
    assert SECRET not in line.text


def test_a_file_that_others_may_read_and_an_unknown_name_are_warnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(*_: object) -> bool:
        return False

    monkeypatch.setattr(configuration, "has_container", none)
    file = tmp_path / "s.json"
    values = {"SLIPWAY_STORAGE": STORAGE, "SLIPWAY_CLUSTRE": "x"}
    findings = settings_of(file, {**values, "AzureWebJobs_deliver_Disabled": "true"}, 0o644)

    assert [one.outcome for one in findings] == ["ok", "fail", "warn", "fail", "warn", "fail"]
    _, disabled, unknown, cluster, readable, storage = findings
    assert disabled.text == "the setting AzureWebJobs_deliver_Disabled disables deliver; remove it"
    assert unknown.remedy == "did you mean SLIPWAY_CLUSTER?"
    assert "no job can run on dev-cluster-00" in cluster.text
    assert readable.remedy == f"chmod 600 {file}"
    assert "there is no container" in storage.text
    assert SECRET not in str(findings)


@pytest.mark.parametrize(("status", "outcome"), [(201, "ok"), (403, "fail"), (409, "fail")])
async def test_a_container_that_can_be_seen_and_takes_no_files_is_a_failure(
    status: int, outcome: str
) -> None:
    async def storage(request: web.Request) -> web.Response:
        headers = {"x-ms-error-code": "ScopeLocked", "Last-Modified": "Fri, 20 Nov 2026 10:00:00 GMT"}
        writes = request.method == "PUT"
        if writes:
            assert request.query["comp"] == "block", "it leaves no blob"
        return web.Response(status=status if writes else 200, headers={**headers, "ETag": '"0x1"'})

    async with answering(storage) as url:
        endpoints = f"BlobEndpoint={url}/a;QueueEndpoint={url}/a;TableEndpoint={url}/a"
        connection = f"AccountName=a;AccountKey={SECRET};{endpoints}"
        line = await configuration.storage(Settings({"SLIPWAY_STORAGE": connection}))

    assert (line.subject, line.outcome) == ("storage", outcome)
    assert ("takes no files" in line.text) == (outcome == "fail")
    assert (f"{status} ScopeLocked" in line.text) == (outcome == "fail")


def test_a_file_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    findings = asyncio.run(configuration.check(Options("", "", tmp_path / "none.json")))
    assert [one.outcome for one in findings if one.subject == "settings"] == ["fail"]


def test_the_command_prints_one_line_each_or_json_and_exits_with_1_for_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("slipway.commands.doctor.command.CLUSTERS", {})
    line = ["doctor", "--url", "http://127.0.0.1:9", "--key", "topsecret"]

    people = CliRunner().invoke(app, line)
    program = CliRunner().invoke(app, [*line, "--json"])

    assert (people.exit_code, program.exit_code) == (1, 1)
    document = json.loads(program.stdout)
    assert document["ok"] is False
    assert {"subject", "outcome", "text", "remedy"} == set(document["findings"][0])
    *lines, blank, count = people.stdout.splitlines()
    assert [one.split()[:2] for one in lines] == [[f["outcome"], f["subject"]] for f in document["findings"]]
    assert (blank, count) == ("", "1 failure")
    assert "topsecret" not in people.stdout + program.stdout
