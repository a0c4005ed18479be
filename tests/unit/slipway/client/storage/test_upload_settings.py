"""Where files go: what is named here, else what the deployment says."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from aiohttp import web

from shared.settings import Settings
from slipway.client import deployment
from slipway.client.service import service
from slipway.client.storage.upload_settings import refuse_elsewhere, upload_settings
from slipway.failure import Failure
from tests.doubles.server import answering, as_slipway

_ANSWER = {
    **{
        f"SLIPWAY_STORAGE__{one}ServiceUri": f"https://acct.{one}.core.windows.net"
        for one in ("blob", "queue")
    },
    "SLIPWAY_STORAGE__tableServiceUri": "https://acct.table.core.windows.net/",
    "SLIPWAY_DROP_CONTAINER": "drops",
    "SLIPWAY_STDOUT_PREFIX": "$AZ_BATCHAI_MOUNT_ROOT/out",
}


def tells(settings: object, status: int = 200) -> AbstractAsyncContextManager[str]:
    async def answer(request: web.Request) -> web.Response:
        assert request.path == "/api/settings"
        return web.json_response({"settings": settings}, status=status)

    return answering(as_slipway(answer))


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The servers of these tests count as deployments in another place; nothing here names a storage."""
    monkeypatch.setattr(deployment, "LOOPBACK", ())
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for one in ("", "__blobServiceUri", "__queueServiceUri", "__tableServiceUri"):
        monkeypatch.delenv(f"SLIPWAY_STORAGE{one}", raising=False)


async def test_a_deployment_tells_where_files_go() -> None:
    async with tells({**_ANSWER, "SLIPWAY_SEAL_KEY": "of the deployment", "PATH": "/bin"}) as url:
        settings = await upload_settings(url, "", None)

    assert settings.connection().blob == "https://acct.blob.core.windows.net"
    assert settings.container("SLIPWAY_DROP_CONTAINER") == "drops"
    assert settings.text("SLIPWAY_STDOUT_PREFIX") == "$AZ_BATCHAI_MOUNT_ROOT/out"
    assert settings.values.keys() == _ANSWER.keys(), "and nothing else is taken from it"


async def test_the_address_and_the_key_of_the_environment_count(monkeypatch: pytest.MonkeyPatch) -> None:
    async with tells(_ANSWER) as url:
        monkeypatch.setenv("SLIPWAY_URL", url)
        assert (await upload_settings("", "", None)).text("SLIPWAY_DROP_CONTAINER") == "drops"


async def test_what_is_named_here_counts_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_STORAGE", "UseDevelopmentStorage=true")

    settings = await upload_settings("http://127.0.0.1:9", "", None)

    assert settings.text("SLIPWAY_STORAGE") == "UseDevelopmentStorage=true"


@pytest.mark.parametrize(
    "address",
    [
        "https://acct.blob.core.windows.net.evil.example",
        "https://evil.example/acct.blob.core.windows.net",
        "http://acct.blob.core.windows.net",
        "https://acct.blob.core.windows.net@evil.example",
        "https://acct.blob.core.windows.net/?sv=x",
        "https://acct.file.core.windows.net",
        "http://127.0.0.1:10000/devstoreaccount1",
        "",
    ],
)
async def test_no_token_goes_to_what_is_no_address_of_azure_storage(address: str) -> None:
    async with tells({**_ANSWER, "SLIPWAY_STORAGE__blobServiceUri": address}) as url:
        with pytest.raises(Failure, match=r"names no storage account.*; no token goes to it$"):
            await upload_settings(url, "", None)


@pytest.mark.parametrize(
    "settings", [{}, {"SLIPWAY_DROP_CONTAINER": "x"}, {"SLIPWAY_DROP_CONTAINER": 5}, None, [], "x"]
)
@pytest.mark.parametrize("status", [200, 404, 401])
async def test_one_that_does_not_tell_leaves_it_to_the_caller(settings: object, status: int) -> None:
    async with tells(settings, status) as url:
        with pytest.raises(
            Failure,
            match=r"names no storage account, where files go; name it.*; the deployment does not say it: ",
        ):
            await upload_settings(url, "", None)


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("SLIPWAY_STORAGE__blobServiceUri", "https://other.blob.core.windows.net", "acct/drops"),
        ("SLIPWAY_DROP_CONTAINER", "scripts", "acct/drops"),
    ],
)
async def test_files_that_the_app_does_not_look_at_are_not_sent(name: str, value: str, place: str) -> None:
    async with tells(_ANSWER) as url, service(url) as api:
        await refuse_elsewhere(Settings(_ANSWER), api)
        with pytest.raises(Failure, match=f"nothing was uploaded: .* the app looks for drops in {place}; "):
            await refuse_elsewhere(Settings({**_ANSWER, name: value}), api)


@pytest.mark.parametrize(
    "ours",
    [
        {"SLIPWAY_STORAGE__blobServiceUri": "https://files.contoso.com"},
        {"SLIPWAY_STORAGE__blobServiceUri": "https://acct.z01.blob.storage.azure.net/"},
        {"SLIPWAY_STORAGE": "AccountName=acct;AccountKey=a2V5;EndpointSuffix=core.windows.net"},
    ],
)
async def test_another_name_of_the_same_account_is_no_other_place(ours: Mapping[str, str]) -> None:
    async with tells(_ANSWER) as url, service(url) as api:
        await refuse_elsewhere(Settings({**_ANSWER, **ours}), api)
        with pytest.raises(Failure, match="nothing was uploaded"):
            await refuse_elsewhere(Settings({**_ANSWER, **ours, "SLIPWAY_DROP_CONTAINER": "scripts"}), api)


async def test_an_app_that_does_not_tell_keeps_no_file_back() -> None:
    async with tells({}, 404) as url, service(url) as api:
        await refuse_elsewhere(Settings(_ANSWER), api)
    async with tells({}) as url, service(url) as api:
        await refuse_elsewhere(Settings(_ANSWER), api)
    async with tells({**_ANSWER, "SLIPWAY_STORAGE__blobServiceUri": "https://["}) as url, service(url) as api:
        await refuse_elsewhere(Settings(_ANSWER), api)
