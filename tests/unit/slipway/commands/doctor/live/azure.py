"""A small Azure at the wire: the endpoint of managed identities, and Resource Manager's answers by path."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from tests.doubles.server import serving

TOKEN = "token-of-a-managed-identity"


class Azure:
    """What is answered, by path: a body, or a status with an error. `paths` are those that were asked for."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = dict(answers)
        self.paths: list[str] = []
        self.url = ""

    async def _resource(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return _error(401, "AuthenticationFailed", "Authentication failed.")
        if "api-version" not in request.query:
            return _error(400, "MissingApiVersionParameter", "The api-version query parameter is required.")
        path = request.path + (f"#{page}" if (page := request.query.get("$skiptoken")) else "")
        self.paths.append(path)
        answer = self.answers.get(path)
        if answer is None:
            return _error(404, "ResourceNotFound", f"The Resource '{path}' was not found.")
        if isinstance(answer, tuple):
            return _error(*answer)
        return web.json_response(answer)

    async def _token(self, request: web.Request) -> web.Response:
        if request.headers.get("X-IDENTITY-HEADER") != "secret-header":
            return web.json_response({"statusCode": 401}, status=401)
        answer = {"access_token": TOKEN, "expires_on": "4102444800", "resource": "r", "token_type": "Bearer"}
        return web.json_response(answer)

    def app(self) -> web.Application:
        """Both, at one address."""
        app = web.Application()
        app.router.add_get("/msi/token", self._token)
        app.router.add_route("*", "/{path:.*}", self._resource)
        return app


def _error(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": {"code": code, "message": message}}, status=status)


@asynccontextmanager
async def azure(answers: Mapping[str, Any], patch: pytest.MonkeyPatch) -> AsyncIterator[Azure]:
    """It runs, and the identity of this process is signed in to it, as in an app of Azure."""
    fake = Azure(answers)
    async with serving(fake.app()) as fake.url:
        patch.setenv("IDENTITY_ENDPOINT", f"{fake.url}/msi/token")
        patch.setenv("IDENTITY_HEADER", "secret-header")
        patch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
        yield fake
