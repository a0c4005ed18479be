"""What a shared access signature allows, by the SDK's own signatures."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest
from azure.storage.fileshare import generate_account_sas, generate_file_sas, generate_share_sas

from local.azurite import ACCOUNT, KEY
from local.batchai.files.sas import SignedRequest, refusal

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER, EARLIER = NOW + timedelta(hours=1), NOW - timedelta(hours=1)
FILE = f"/{ACCOUNT}/logs/a folder/x.txt"


def of_account(types: str = "sco", permission: str = "rwdlc", expiry: datetime = LATER, **more: Any) -> str:
    return generate_account_sas(ACCOUNT, KEY, types, permission, expiry, **more)


def of_share(permission: str = "rcwdl", **more: Any) -> str:
    return generate_share_sas(ACCOUNT, "logs", KEY, permission, LATER, **more)


def of_file(permission: str = "r") -> str:
    return generate_file_sas(ACCOUNT, "logs", ["a folder", "x.txt"], KEY, permission, LATER)


def code(sas: str, operation: str = "GET file", path: str = FILE, scheme: str = "http") -> str | None:
    query = dict(parse_qsl(sas))
    refused = refusal(SignedRequest(operation, path, query, scheme, "127.0.0.1"), ACCOUNT, KEY, NOW)
    return refused and refused[0]


@pytest.mark.parametrize(
    "sas", [of_account(), of_account("o", "r"), of_share("r"), of_file(), of_account(ip="127.0.0.1")]
)
def test_a_signature_allows_what_it_is_made_for(sas: str) -> None:
    assert code(sas) is None


@pytest.mark.parametrize(
    ("sas", "operation", "refused"),
    [
        (of_account(expiry=EARLIER), "GET file", "AuthenticationFailed"),
        (of_account(start=LATER), "GET file", "AuthenticationFailed"),
        (of_account() + "x", "GET file", "AuthenticationFailed"),
        (of_account().replace("sp=rwdlc", "sp=rwdlcu"), "GET file", "AuthenticationFailed"),
        (of_share(policy_id="stored"), "GET file", "AuthenticationFailed"),
        ("sig=x", "GET file", "AuthenticationFailed"),
        (of_account(services="b"), "GET file", "AuthorizationServiceMismatch"),
        (of_account(protocol="https"), "GET file", "AuthorizationProtocolMismatch"),
        (of_account(ip="10.0.0.1-10.0.0.9"), "GET file", "AuthorizationSourceIPMismatch"),
        (of_account("c"), "GET file", "AuthorizationResourceTypeMismatch"),
        (of_account("o"), "GET share list", "AuthorizationResourceTypeMismatch"),
        (of_account("o", "w"), "GET file", "AuthorizationPermissionMismatch"),
        (of_account("o", "r"), "PUT file range", "AuthorizationPermissionMismatch"),
        (of_share(), "DELETE share", "AuthorizationResourceTypeMismatch"),
        (of_share("r"), "GET directory list", "AuthorizationPermissionMismatch"),
        (of_share("c"), "PUT file range", "AuthorizationPermissionMismatch"),
        (of_file(), "GET directory", "AuthorizationResourceTypeMismatch"),
        (of_file(), "DELETE file", "AuthorizationPermissionMismatch"),
    ],
)
def test_a_signature_allows_nothing_else(sas: str, operation: str, refused: str) -> None:
    assert code(sas, operation) == refused


@pytest.mark.parametrize("path", [f"/{ACCOUNT}/other/x.txt", f"/{ACCOUNT}/logs/a folder/y.txt"])
def test_a_signature_of_a_file_is_of_no_other(path: str) -> None:
    assert code(of_file(), path=path) == "AuthenticationFailed"


def test_a_signature_for_https_is_good_there() -> None:
    assert code(of_account(protocol="https"), scheme="https") is None
