"""A tenant of Entra, as far as it publishes keys and signs tokens."""

from __future__ import annotations

import json
import time
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa

TENANT = "11111111-2222-3333-4444-555555555555"
AUDIENCE = "api://slipway"


class Tenant:
    """Its keys `one`, which is published, and `two`, which is not."""

    def __init__(self) -> None:
        self._keys = {kid: rsa.generate_private_key(65537, 2048) for kid in ("one", "two")}
        self.authority = ""
        self.fetched = 0
        #: in place of the keys
        self.answer: web.Response | None = None

    def app(self) -> web.Application:
        """The server of the keys."""
        app = web.Application()
        app.router.add_get(f"/{TENANT}/discovery/v2.0/keys", self._publish)
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
        if self.answer is not None:
            return web.Response(status=self.answer.status, body=self.answer.body)
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.public("one")))
        return web.json_response({"keys": [{**key, "kid": "one", "use": "sig", "alg": "RS256"}]})
