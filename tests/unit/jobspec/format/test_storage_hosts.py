"""The key of a storage account goes to the account's own host, and to no other that a job's author writes."""

from __future__ import annotations

from typing import Any

import pytest

from shared.jobspec import complete, validate, with_credentials
from shared.jobspec.format.defaults import Defaults
from tests.unit.jobspec.jobs import job, share

KEY = "cAnArY-key"
OWN = "https://account.file.core.windows.net/logs"

FOREIGN = (
    "https://account.file.core.windows.net.evil.example/logs",
    "https://account.file.core.windows.net@evil.example/logs",
    "https://account:x@evil.example/logs",
    "https://account.file.core.windows.net:8443/logs",
    "https://account.file.core.windows.net:443@evil.example/logs",
    "https://account.file.core.windows.net./logs",
    "https://account.file.core.windows.net%2eevil.example/logs",
    "https://account.file.core.windows.net%00.evil.example/logs",
    "https://account.file.core.windows.net\\.evil.example/logs",
    "https://account.file.core.windows.net\\@evil.example/logs",
    "https://evil.example\\account.file.core.windows.net/logs",
    "https://account.file.core.windows.net#.evil.example/logs",
    "https://account.file.core.windows.net?.evil.example/logs",
    "https://account.file.core.windows\N{FULLWIDTH FULL STOP}net/logs",
    "https://account.file.core.windows.net\N{IDEOGRAPHIC FULL STOP}evil.example/logs",
    "https://\N{CYRILLIC SMALL LETTER A}ccount.file.core.windows.net/logs",
    "https://account.file.core.windovvs.net/logs",
    "https://account.file.xn--core-7oa.windows.net/logs",
    "https://account.files.core.windows.net/logs",
    "https://account.file.windows.net/logs",
    "https://account.evil.file.core.windows.net/logs",
    "https://account.file.core.windows.net.file.core.windows.net/logs",
    "https://account.blob.core.windows.net/logs",
    "https://account.dfs.core.windows.net/logs",
    "https://account.file.file.core.windows.net/logs",
    "https://account.evil.example/logs",
    "https://account.azurewebsites.net/logs",
    "https://127.0.0.1/account/logs",
    "https://[::1]/account/logs",
    "http://account.file.core.windows.net/logs",
    "//account.file.core.windows.net/logs",
    "smb://account.file.core.windows.net/logs",
    "https:/account.file.core.windows.net/logs",
    " https://account.file.core.windows.net/logs",
    "https://account.file.core.windows.net/logs\n",
    "https://account.file.core.windows.net /logs",
    "",
)


def _filled(document: dict[str, Any], suffix: str = "core.windows.net") -> str:
    """The shares as the engine gets them; the job's container may have the key."""
    filled = with_credentials(document, {"account": KEY}, suffix)
    return str(filled["properties"]["mountVolumes"]["azureFileShares"])


@pytest.mark.parametrize("credentials", [None, {}, {"accountKey": None}], ids=["none", "empty", "null"])
@pytest.mark.parametrize("url", [*FOREIGN, 7, ["https://account.file.core.windows.net/logs"]])
def test_no_key_is_filled_in_where_the_host_is_not_the_accounts_own(url: object, credentials: object) -> None:
    document = share(azureFileUrl=url, credentials=credentials)

    assert KEY not in _filled(document)


@pytest.mark.parametrize("url", [url for url in FOREIGN if url])
def test_what_is_not_the_accounts_own_host_is_refused_offline(url: str) -> None:
    spec, problems = validate(share(azureFileUrl=url))

    assert spec is None
    # A strange letter is reported as such.
    assert {"SW035", "SW089"} & {one.code for one in problems if one.severity == "error"}
    assert "evil" not in str([(one.message, one.remedy) for one in problems])


@pytest.mark.parametrize("url", [OWN, f"{OWN}/", f"{OWN}/a/b", "https://ACCOUNT.File.Core.Windows.NET/logs"])
def test_the_accounts_own_host_gets_the_key(url: str) -> None:
    document = share(azureFileUrl=url)

    filled = with_credentials(document, {"account": KEY})

    assert validate(document)[1] == ()
    (mount,) = filled["properties"]["mountVolumes"]["azureFileShares"]
    assert mount["credentials"] == {"accountKey": KEY}


def test_the_key_goes_to_no_other_account_of_the_cloud() -> None:
    document = share(azureFileUrl="https://theirs.file.core.windows.net/logs", accountName="account")

    assert KEY not in _filled(document)
    assert [(one.code, one.severity) for one in validate(document)[1]] == [("SW036", "error")]


def test_an_account_of_another_cloud_is_another_account() -> None:
    own, remote = OWN, "https://account.file.core.chinacloudapi.cn/logs"

    for url, suffix in ((own, "core.chinacloudapi.cn"), (remote, "core.windows.net")):
        document = share(azureFileUrl=url)
        problems = validate(document, storage_suffix=suffix)[1]
        assert [(one.code, one.severity) for one in problems] == [("SW035", "error")]
        assert f"ACCOUNT.file.{suffix}/SHARE" in problems[0].remedy
        assert KEY not in _filled(document, suffix)
    assert validate(share(azureFileUrl=remote), storage_suffix="core.chinacloudapi.cn")[1] == ()


def test_what_completion_fills_in_leads_the_key_to_no_other_host() -> None:
    mount = {
        "azureFileUrl": "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net.evil.example/logs",
        "credentials": {"accountKey": "<AZURE_BATCHAI_STORAGE_KEY>"},
        "relativeMountPath": "logs",
    }

    document, _ = complete(
        job(mountVolumes={"azureFileShares": [mount]}), Defaults(storage_account="account")
    )

    assert document["properties"]["mountVolumes"]["azureFileShares"][0]["accountName"] == "account"
    assert KEY not in _filled(document)
    assert [one.code for one in validate(document)[1]] == ["SW035"]


def test_a_share_with_credentials_of_its_own_may_be_anywhere_but_no_container() -> None:
    own = {"accountKey": "theirs"}
    elsewhere = share(azureFileUrl="https://account.file.local.azurestack.external/logs", credentials=own)
    container = share(azureFileUrl="https://account.blob.core.windows.net/logs", credentials=own)

    assert validate(elsewhere)[1] == ()
    assert [one.code for one in validate(container)[1]] == ["SW035"]


@pytest.mark.parametrize(
    "name", ["account.evil.example/", "account@evil", "account/../x", "ACCOUNT", "account "]
)
def test_a_container_gets_the_key_by_the_exact_name_of_its_account_only(name: str) -> None:
    blobs = {"accountName": name, "containerName": "data", "relativeMountPath": "data"}
    document = job(mountVolumes={"azureBlobFileSystems": [blobs]})

    assert KEY not in str(with_credentials(document, {"account": KEY}))


def test_capitals_of_a_share_are_certainly_small_letters_and_those_below_it_stay() -> None:
    host = "https://account.file.core.windows.net"
    for written, right in (("Logs", "logs"), ("Logs/Of/Me", "logs/Of/Me")):
        (problem,) = validate(share(azureFileUrl=f"{host}/{written}"))[1]

        assert problem.fix is not None
        assert problem.fix.value == f"{host}/{right}"
