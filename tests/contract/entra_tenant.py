"""A tenant of Entra, as far as it publishes keys, signs tokens, and signs people in with a code and PKCE."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import jwt
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric import rsa

TENANT = "11111111-2222-3333-4444-555555555555"
AUDIENCE = "api://slipway"
#: The application's id: what a browser asks for a token of.
CLIENT = "6f0c1c5e-1111-4000-8000-2b1d3a5c7e9f"


@dataclass
class Person:
    """Who sits at the browser. `spoilt`: claims of the identity in place of the right ones."""

    oid: str = "ann"
    roles: tuple[str, ...] = ("Jobs.Submit",)
    spoilt: dict[str, str] = field(default_factory=dict)


class Tenant:
    """Its keys `one`, which is published, and `two`, which is not."""

    def __init__(self) -> None:
        self._keys = {kid: rsa.generate_private_key(65537, 2048) for kid in ("one", "two")}
        self.authority = ""
        self.fetched = 0
        #: in place of the keys
        self.answer: web.Response | None = None
        #: cleared while the keys' address accepts and does not answer
        self.answers = asyncio.Event()
        self.answers.set()
        self.fetching = asyncio.Event()
        self.person = Person()
        self.redeemed = 0
        #: code → the request that it answers
        self._codes: dict[str, dict[str, str]] = {}

    def app(self) -> web.Application:
        """The server of the keys."""
        app = web.Application()
        app.router.add_get(f"/{TENANT}/discovery/v2.0/keys", self._publish)
        app.router.add_get(f"/{TENANT}/oauth2/v2.0/authorize", self._authorize)
        app.router.add_post(f"/{TENANT}/oauth2/v2.0/token", self._redeem)
        return app

    def public(self, kid: str) -> rsa.RSAPublicKey:
        """The public half of a key."""
        return self._keys[kid].public_key()

    def token(self, kid: str = "one", **changes: Any) -> str:
        """A good token with some claims changed; None leaves one out."""
        now = int(time.time())
        claims = {
            "aud": AUDIENCE,
            "iss": f"{self.authority}/{TENANT}/v2.0",
            "iat": now,
            "nbf": now,
            "exp": now + 600,
            "tid": TENANT,
            "oid": "ann",
            "roles": ["Jobs.Submit"],
            **changes,
        }
        values = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(values, self._keys[kid], algorithm="RS256", headers={"kid": kid})

    async def _publish(self, request: web.Request) -> web.Response:
        self.fetched += 1
        self.fetching.set()
        await self.answers.wait()
        if self.answer is not None:
            return web.Response(status=self.answer.status, body=self.answer.body)
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.public("one")))
        return web.json_response({"keys": [{**key, "kid": "one", "use": "sig", "alg": "RS256"}]})

    async def _authorize(self, request: web.Request) -> web.Response:
        """Send the browser back with a code, as for a person who is signed in and has consented."""
        query = dict(request.query)
        fixed = {"client_id": CLIENT, "response_type": "code", "response_mode": "fragment"}
        fixed |= {"scope": f"openid {CLIENT}/.default", "code_challenge_method": "S256"}
        if {name: query.get(name) for name in fixed} != fixed or not query.get("nonce"):
            return web.Response(status=400, text=f"AADSTS900144: {sorted(query)}")
        code = secrets.token_urlsafe(16)
        self._codes[code] = query
        answer = urlencode({"code": code, "state": query["state"]})
        raise web.HTTPFound(f"{query['redirect_uri']}#{answer}")

    async def _redeem(self, request: web.Request) -> web.Response:
        """A code once, for a request with its verifier and the same address."""
        self.redeemed += 1
        form = await request.post()
        query = self._codes.pop(str(form.get("code")), None)
        digest = hashlib.sha256(str(form.get("code_verifier")).encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        expected = query and (query["code_challenge"], query["redirect_uri"], CLIENT)
        headers = {"Access-Control-Allow-Origin": request.headers.get("Origin", "null")}
        if query is None or expected != (challenge, form.get("redirect_uri"), form.get("client_id")):
            body = {"error": "invalid_grant", "error_description": "AADSTS501481: the verifier does not fit"}
            return web.json_response(body, status=400, headers=headers)
        identity = {"aud": CLIENT, "nonce": query["nonce"], "sub": self.person.oid, **self.person.spoilt}
        access = self.token(aud=CLIENT, oid=self.person.oid, roles=list(self.person.roles))
        body = {"access_token": access, "id_token": self.token(**identity), "token_type": "Bearer"}
        return web.json_response(body, headers=headers)


@asynccontextmanager
async def open_tenant() -> AsyncIterator[Tenant]:
    """A tenant at an address of this machine."""
    tenant = Tenant()
    async with TestServer(tenant.app(), host="127.0.0.1") as server:
        tenant.authority = str(server.make_url("")).rstrip("/")
        yield tenant
