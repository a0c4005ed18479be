"""The token of an identity: no caller waits long for an endpoint that is silent, and the error is true."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shared.adapters.storage.wire.connection import storage_errors
from shared.adapters.storage.wire.sign import Identity
from shared.core.errors import Misconfigured, Transient, Unavailable
from shared.login import Login

SCOPE = "https://storage.azure.com/.default"
#: The variables by which azure-identity chooses a credential.
NAMES = (
    *("IDENTITY_ENDPOINT", "IDENTITY_HEADER", "IMDS_ENDPOINT", "MSI_ENDPOINT", "AZURE_TOKEN_CREDENTIALS"),
    *("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH"),
    *("AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST"),
)


class Endpoint:
    """Accepts connections, and answers each with `answer`; "" for never. `accepted` is called each time."""

    def __init__(self, answer: str = "") -> None:
        self.answer, self.connections, self.port = answer, 0, 0
        self.accepted: Any = lambda: None
        self._writers: list[asyncio.StreamWriter] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Endpoint]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for writer in self._writers:
                writer.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.accepted()
        self._writers.append(writer)
        if self.answer:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(self.answer.encode())


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def managed(environment: pytest.MonkeyPatch, endpoint: Endpoint) -> None:
    """As in a function app with an identity."""
    environment.setenv("IDENTITY_ENDPOINT", f"http://127.0.0.1:{endpoint.port}/msi/token")
    environment.setenv("IDENTITY_HEADER", "secret")


async def test_callers_share_one_wait_for_an_endpoint_that_never_answers(
    environment: pytest.MonkeyPatch,
) -> None:
    async with Endpoint().running() as endpoint:
        managed(environment, endpoint)
        login = Login("storage", SCOPE, "", patience=0.2)
        ends = await asyncio.gather(*(login.token() for _ in range(20)), return_exceptions=True)
        await login.close()

    (message,) = {f"{type(end).__name__}: {end}" for end in ends}
    assert message.startswith(
        "Transient: no token for storage: the identity endpoint of this app (IDENTITY_ENDPOINT) "
        "does not answer within 0.2 s"
    )
    assert "az login" not in message
    assert endpoint.connections == 1


async def test_a_failure_that_took_long_rests_for_a_while(environment: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    async with Endpoint().running() as endpoint:
        managed(environment, endpoint)
        login = Login("storage", SCOPE, "", clock=lambda: now[0], patience=0.1)
        endpoint.accepted = lambda: now.__setitem__(0, now[0] + 20)
        for _ in range(3):
            with pytest.raises(Transient, match="does not answer"):
                await login.token()
        assert endpoint.connections == 1
        now[0] += 5
        with pytest.raises(Transient):
            await login.token()
        await login.close()
    assert endpoint.connections == 2


async def test_a_clock_that_goes_back_does_not_prolong_the_rest(environment: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    async with Endpoint().running() as endpoint:
        managed(environment, endpoint)
        login = Login("storage", SCOPE, "", clock=lambda: now[0], patience=0.1)
        endpoint.accepted = lambda: now.__setitem__(0, now[0] + 20)
        for _ in range(2):
            with pytest.raises(Transient):
                await login.token()
            now[0] -= 500
        await login.close()
    assert endpoint.connections == 2


class Hanging:
    """A credential that gives one token, and no other one."""

    def __init__(self) -> None:
        self.requests = 0

    async def get_token(self, scope: str) -> Any:
        self.requests += 1
        if self.requests > 1:
            await asyncio.Event().wait()
        return SimpleNamespace(token="first", expires_on=1100)

    async def close(self) -> None:
        """Nothing to close."""


async def test_a_valid_token_is_used_while_a_new_one_does_not_come() -> None:
    source = Hanging()
    login = Login("storage", SCOPE, "", source, lambda: 1000.0, patience=0.1)

    assert await asyncio.gather(*(login.token() for _ in range(9))) == ["first"] * 9
    assert await login.token() == "first"
    assert source.requests == 2
    await login.close()


KINDS = {
    "managed": (
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}",
        {},
    ),
    "principal": ("", {"AZURE_CLIENT_ID": "a", "AZURE_TENANT_ID": "b", "AZURE_CLIENT_SECRET": "c"}),
    "workload": ("", {"AZURE_CLIENT_ID": "a", "AZURE_TENANT_ID": "b"}),
}
MESSAGES = {
    "managed": "no login to storage was found: assign an identity to the app, and set AZURE_CLIENT_ID unless",
    "principal": "Entra does not answer within 0.3 s: check that this machine reaches it (AZURE",
    "workload": "Entra does not answer within 0.3 s: check that this pod reaches it (AZURE",
}


@pytest.mark.parametrize("kind", KINDS)
async def test_the_error_has_the_remedy_of_its_kind_of_credential(
    kind: str, environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer, variables = KINDS[kind]
    async with Endpoint(answer).running() as endpoint:
        for name, text in variables.items():
            environment.setenv(name, text)
        environment.setenv("AZURE_AUTHORITY_HOST", f"https://127.0.0.1:{endpoint.port}")
        if kind == "managed":
            managed(environment, endpoint)
        if kind == "workload":
            (tmp_path / "token").write_text("eyJ")
            environment.setenv("AZURE_FEDERATED_TOKEN_FILE", str(tmp_path / "token"))
        login = Login("storage", SCOPE, "", patience=0.3 if kind != "managed" else 20)
        with pytest.raises((Misconfigured, Transient)) as caught:
            await login.token()
        await login.close()

    assert MESSAGES[kind] in str(caught.value)
    assert "az login" not in str(caught.value)


async def test_a_client_of_an_sdk_gets_the_same_token_and_the_same_error() -> None:
    login = Login("storage", SCOPE, "", Hanging(), lambda: 1000.0)
    async with login.credential() as credential:
        assert await credential.get_token("other", enable_cae=True) == ("first", 1100)
    late = Login("storage", SCOPE, "", Hanging(), lambda: 2000.0, patience=0.05)
    await late.token()
    with pytest.raises(Unavailable, match=r"no token for storage: the login did not end within 0\.05 s"):
        async with storage_errors():
            await late.credential().get_token(SCOPE)
    await login.close()
    await late.close()


async def test_storage_says_that_there_is_no_token_and_tries_no_further(
    environment: pytest.MonkeyPatch,
) -> None:
    async with Endpoint().running() as endpoint:
        managed(environment, endpoint)
        signer = Identity("")
        signer._patience = 0.1
        with pytest.raises(Unavailable, match="IDENTITY_ENDPOINT"):
            await signer.authorization("GET", "/", {}, {}, table=True)
        await signer.close()
