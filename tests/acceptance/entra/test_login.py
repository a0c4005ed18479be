"""`slipway login --scope` as a program of a tenant signs in: over https, by what its environment says."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer

from local.batchai.https.certificate import certificate, server_context
from tests.acceptance.door import Door, shell
from tests.contract.entra_tenant import AUDIENCE, TENANT, Tenant

ROOT = Path(__file__).resolve().parents[3]
SCOPE = f"{AUDIENCE}/.default"
SECRET = "the program's own secret"
pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Issuer:
    """The tenant's https address, where programs get tokens for their secrets."""

    tenant: Tenant
    url: str = ""
    certificate: Path = Path()
    roles: tuple[str, ...] = ("Jobs.Submit",)
    requests: int = 0

    async def issue(self, request: web.Request) -> web.Response:
        """A token for the grant of client credentials, as Entra's v2.0 endpoint gives it."""
        form = await request.post()
        self.requests += 1
        if form.get("client_secret") != SECRET or form.get("scope") != SCOPE:
            error = {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret"}
            return web.json_response(error, status=401)
        assert form["grant_type"] == "client_credentials"
        token = self.tenant.token(oid="program", roles=list(self.roles))
        return web.json_response({"token_type": "Bearer", "expires_in": 600, "access_token": token})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def issuer(tenant: Tenant, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Issuer]:
    issuer = Issuer(tenant)
    issuer.certificate = certificate(tmp_path_factory.mktemp("certificate"))
    app = web.Application()
    app.router.add_post(f"/{TENANT}/oauth2/v2.0/token", issuer.issue)
    secure = TestServer(app, host="127.0.0.1")
    await secure.start_server(ssl=server_context(issuer.certificate))
    issuer.url = str(secure.make_url("")).rstrip("/")
    yield issuer
    await secure.close()


@dataclass
class Person:
    """Commands in a home of their own, signed in as a program of the tenant."""

    issuer: Issuer
    home: Path
    secret: str = SECRET

    @property
    def profiles(self) -> Path:
        return self.home / "slipway" / "profiles.json"

    async def slipway(self, *words: str) -> tuple[int | None, str, str]:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("SLIPWAY_", "AZURE_"))
        }
        environment |= {"PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(self.home)}
        environment |= {"SSL_CERT_FILE": str(self.issuer.certificate)}
        environment |= {"AZURE_AUTHORITY_HOST": self.issuer.url, "AZURE_TENANT_ID": TENANT}
        environment |= {"AZURE_CLIENT_ID": "program", "AZURE_CLIENT_SECRET": self.secret}
        environment |= {"AZURE_TOKEN_CREDENTIALS": "EnvironmentCredential"}
        command = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "slipway.main", *words),
            cwd=self.home,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await command.communicate()
        return command.returncode, out.decode(), err.decode()


@pytest.fixture
def person(issuer: Issuer, tmp_path: Path) -> Person:
    issuer.roles = ("Jobs.Submit",)
    return Person(issuer, tmp_path)


async def test_a_program_logs_in_once_and_its_commands_get_tokens_of_their_own(
    guarded: Door, person: Person
) -> None:
    code, out, err = await person.slipway("login", guarded.stack.host_url, "--scope", SCOPE)

    assert (code, err) == (0, "")
    assert "logged in to" in out
    assert person.profiles.stat().st_mode & 0o777 == 0o600
    profile = person.profiles.read_text()
    assert SCOPE in profile
    assert "eyJ" not in profile  # a token ends; what gives one is kept
    assert SECRET not in profile

    document = person.home / "job.json"
    document.write_text(json.dumps(shell("true")))
    before = person.issuer.requests
    code, out, err = await person.slipway("submit", "job.json", "--json")
    assert code == 0, err
    job = json.loads(out)["id"]
    code, out, err = await person.slipway("wait", job)
    assert (code, "succeeded" in out) == (0, True), err
    assert person.issuer.requests == before + 2


async def test_a_secret_that_the_tenant_refuses_is_said_with_what_to_do(
    guarded: Door, person: Person
) -> None:
    person.secret = "of yesterday"

    code, out, err = await person.slipway("login", guarded.stack.host_url, "--scope", SCOPE)

    assert (code, out) == (1, "")
    assert f"Entra ID gives no token for {SCOPE}" in err
    assert "az login" in err
    assert "AADSTS7000215" in err  # by which people and support look it up
    assert "of yesterday" not in err
    assert "Traceback" not in err
    assert not person.profiles.exists()


async def test_a_token_without_a_role_is_refused_and_the_role_named(guarded: Door, person: Person) -> None:
    person.issuer.roles = ()

    code, _, err = await person.slipway("login", guarded.stack.host_url, "--scope", SCOPE)

    assert code == 1
    assert "Jobs.Submit" in err
    assert not person.profiles.exists()


async def test_an_expired_sign_in_is_said_by_every_later_command(guarded: Door, person: Person) -> None:
    assert (await person.slipway("login", guarded.stack.host_url, "--scope", SCOPE))[0] == 0
    person.secret = "of yesterday"

    code, _, err = await person.slipway("jobs")

    assert (code, "Entra ID gives no token" in err, "az login" in err) == (1, True, True)
