"""`slipway login` and `logout`: a wrong key or address is said at once, and no key is shown."""

from __future__ import annotations

import asyncio
import io
import os
from pathlib import Path

import pytest
from aiohttp import web
from typer.testing import CliRunner

from slipway.client.deployment import PROFILE, settings_for, without_api
from slipway.client.profiles import Profile, Profiles, file_of, read_profiles, write_profiles
from slipway.client.service import service
from slipway.commands.login.login import login, logout
from slipway.failure import Failure
from slipway.main import app
from slipway.settings import local_url
from tests.doubles.server import answering, as_slipway


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in (PROFILE, "SLIPWAY_URL", "SLIPWAY_KEY"):
        monkeypatch.setenv(name, "")  # and so given back in the end: `--profile` changes them
        monkeypatch.delenv(name)
    return file_of(os.environ)


def read(file: Path) -> str:
    return file.read_text() if file.exists() else ""


async def answer(request: web.Request) -> web.Response:
    if request.path != "/api/jobs":
        return web.Response(status=404)
    if request.headers.get("x-functions-key") != "right":
        return web.Response(status=401)
    return web.json_response({"jobs": [], "next": None})


async def test_a_right_key_is_kept_and_not_shown(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("right\n"))
    async with answering(as_slipway(answer)) as url:
        assert await asyncio.to_thread(login, f"{url}/api/", "mine", "") == 0

        result = CliRunner().invoke
        shown = await asyncio.to_thread(result, app, ["jobs"], catch_exceptions=False)
        named = await asyncio.to_thread(result, app, ["--profile", "mine", "jobs"], catch_exceptions=False)

    assert (shown.exit_code, named.exit_code) == (0, 0)
    assert read_profiles(file).chosen() == Profile(url, "right")
    assert "right" not in "".join(capsys.readouterr())
    monkeypatch.delenv(PROFILE)
    assert logout("") == 0
    assert read_profiles(file).chosen() is None
    assert "right" not in read(file)
    with pytest.raises(Failure, match="no profile is logged in"):
        logout("")


PAGES = (
    *("/api/ui", "/api/ui/", "/api/ui/index.html", "/api/ui/#/jobs", "/api/ui#/jobs/j_1/log?line=7"),
    *("/API/UI/", "/Api/ui//", "//api//ui/", "/api/UI/Index.HTML#/jobs"),
)


@pytest.mark.parametrize("path", [*PAGES, "", "/", "/api", "/api/", "//", "/API/", "/api//"])
async def test_the_address_that_the_browser_shows_leads_to_the_deployment(
    file: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("right\n"))
    async with answering(as_slipway(answer)) as url:
        assert await asyncio.to_thread(login, f"{url}{path}", "", "") == 0
        assert read_profiles(file).chosen() == Profile(url, "right")


@pytest.mark.parametrize("url", ["https://api", "https://api/", "http://api:7071", "https://my.host/capi"])
def test_a_host_or_a_path_that_only_looks_like_the_api_stays(url: str) -> None:
    assert without_api(url) == url


@pytest.mark.parametrize("path", PAGES)
async def test_every_command_takes_the_address_of_the_page(file: Path, path: str) -> None:
    async with answering(as_slipway(answer)) as url, service(f"{url}{path}", "right") as api:
        assert (await api.jobs()).jobs == []


async def test_a_wrong_key_or_address_is_said_and_not_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with answering(as_slipway(answer)) as url:
        for address, output in ((url, r"refused \(401\)"), (f"{url}/elsewhere", "is not Slipway's API")):
            monkeypatch.setattr("sys.stdin", io.StringIO("wrong\n"))
            with pytest.raises(Failure, match=output) as failure:
                await asyncio.to_thread(login, address, "", "")
            assert "wrong" not in str(failure.value)
    assert not read(file)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("my.azurewebsites.net", "https://HOST"),
        ("https://my.azurewebsites.net/?code=secret", "without a key"),
        ("https://my.azurewebsites.net/api/ui/?code=secret#/jobs", "without a key"),
        ("https://my.azurewebsites.net/#secret", "without a key"),
        ("https://ann:secret@my.azurewebsites.net", "without a key"),
        ("https://:secret@my.azurewebsites.net", "without a key"),
        ("https://[", "https://HOST"),
        ("http://my.azurewebsites.net", "plain http"),
    ],
)
def test_an_address_is_plain_and_keys_travel_encrypted(
    file: Path, monkeypatch: pytest.MonkeyPatch, url: str, message: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("key\n"))

    with pytest.raises(Failure, match=message) as failure:
        login(url, "", "")
    assert "secret" not in str(failure.value)
    assert not file.exists()


@pytest.mark.parametrize(
    "url",
    ["http://:secret@127.0.0.1:9", "http://secret@127.0.0.1:9", "ann:secret@x", "http://x/?code=secret"],
)
def test_no_command_takes_an_address_with_a_key_in_it(file: Path, url: str) -> None:
    result = CliRunner().invoke(app, ["jobs", "--url", url])

    assert isinstance(result.exception, Failure)
    assert "without a key in it" in str(result.exception)
    assert "secret" not in str(result.exception) + result.output


def test_no_upload_goes_to_the_local_stack_for_a_profile_of_another_place(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = tmp_path / "up"
    local.mkdir()
    (local / "local.settings.json").write_text(
        '{"Values": {"SLIPWAY_STORAGE": "UseDevelopmentStorage=true"}}'
    )
    monkeypatch.setattr("slipway.settings.UP", local)
    for name in [name for name in os.environ if name.startswith("SLIPWAY_STORAGE")]:
        monkeypatch.delenv(name)
    message = tmp_path / "message.json"
    message.write_text("{}")
    write_profiles(file, Profiles().with_profile("prod", Profile("http://127.0.0.1:9")))

    for command in (
        *(["drop", str(local)], ["enqueue", str(message)]),
        *(["setup"], ["rerun", "runs/digits/receipt.json"]),
    ):
        result = CliRunner().invoke(app, command)
        assert "the profile names no storage account" in str(result.exception), command

    write_profiles(file, Profiles().with_profile("here", Profile(local_url())))
    assert settings_for("", None).text("SLIPWAY_STORAGE") == "UseDevelopmentStorage=true"


@pytest.mark.parametrize("stack", [True, False])
@pytest.mark.parametrize("words", [["put", "x"], ["ls"], ["get", "x"]])
def test_an_address_and_a_key_alone_do_not_say_where_data_goes(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], stack: bool
) -> None:
    (tmp_path / "x").touch()
    monkeypatch.chdir(tmp_path)
    if stack:
        (tmp_path / "local.settings.json").write_text('{"Values": {"SLIPWAY_STORAGE": "of the local stack"}}')
    monkeypatch.setattr("slipway.settings.UP", tmp_path)
    for name in [name for name in os.environ if name.startswith("SLIPWAY_STORAGE")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr("slipway.client.deployment.LOOPBACK", ())
    monkeypatch.setenv("SLIPWAY_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SLIPWAY_KEY", "key")

    result = CliRunner().invoke(app, ["data", *words])

    assert isinstance(result.exception, Failure)
    assert "the address of the app names no storage account" in str(result.exception)
    assert "SLIPWAY_STORAGE__blobServiceUri" in str(result.exception)
