"""Access tokens of Entra: signature, issuer, audience, time and roles, by PyJWT.

The tenant publishes its keys (OpenID Connect discovery, `jwks_uri`). They are fetched at the first token,
after a day, and again when a token names an unknown key, at most once a minute. If they cannot be fetched,
the known keys remain in use for a week. Only a token that needs the fetch waits for it: neither one with a
known key, nor one that comes shortly after a fetch has failed.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from shared.core.caller import ROLES, Caller, SignIn
from shared.core.errors import Misuse, Unavailable
from shared.core.pacing.shared_call import SharedCall

if TYPE_CHECKING:
    from jwt import PyJWK

log = logging.getLogger(__name__)

_ALGORITHMS = ("RS256",)
#: Seconds: the permitted clock skew, the timeout for fetching the keys, and the time between two fetches.
_LEEWAY, _PATIENCE, _PAUSE = 60, 10.0, 60.0
#: Seconds: for which a token with a known key waits for newer keys, and for which a failed fetch that took
#: longer is the answer to every token with an unknown one.
_SHORT, _REST = 1.0, 5.0
#: Seconds after which the keys are fetched again, because one may have been withdrawn.
_DAY = 86_400.0
#: Seconds for which known keys are used while newer ones cannot be fetched.
_WEEK = 7 * _DAY
#: An application's id.
_APPLICATION = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_REQUIRED = ("exp", "iat", "iss", "aud", "tid", "oid")
#: The longest token, in characters, that is read at all.
_LONGEST = 16_384


class EntraTokens:
    """The tokens port for one tenant."""

    def __init__(
        self,
        authority: str,
        tenant: str,
        audiences: tuple[str, ...],
        clock: Callable[[], float] = time.monotonic,
        patience: float = _PATIENCE,
    ) -> None:
        base = f"{authority.rstrip('/')}/{tenant}"
        self.sign_in = _sign_in(authority, base, audiences)
        self._keys_url = f"{base}/discovery/v2.0/keys"
        # Tokens of version 1 come from a host of their own.
        self._issuers = [f"{base}/v2.0", f"https://sts.windows.net/{tenant}/"]
        self._tenant = tenant
        self._audiences = audiences
        self._keys: dict[str, PyJWK] = {}
        self._clock, self._patience = clock, patience
        self._fetched = self._failed = self._hung = float("-inf")
        self._fetching = SharedCall(self._renew)

    async def verify(self, token: str) -> Caller:
        """The caller who sent it.

        Raises Misuse (401, 403) for a token that is not meant for us, Unavailable without keys.
        """
        import jwt

        if len(token) > _LONGEST:
            raise _refused("it is too long")
        try:
            key = await self._key(str(jwt.get_unverified_header(token).get("kid")))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(_ALGORITHMS),
                audience=self._audiences,
                issuer=self._issuers,
                leeway=_LEEWAY,
                options={"require": list(_REQUIRED)},
            )
        except jwt.PyJWTError as error:
            log.info("refused a token: %s", type(error).__name__)
            raise _refused(_WHY.get(type(error).__name__, "it cannot be verified")) from None
        if claims["tid"] != self._tenant:
            raise _refused("it is of another tenant")
        written = _texts(claims.get("roles"))
        roles = written & ROLES
        if not roles:
            raise Misuse(
                f"the token has none of the roles {', '.join(sorted(ROLES))}",
                status=403,
                remedy="have one assigned to you in the enterprise application",
            )
        return Caller(str(claims["oid"]), roles, _texts(claims.get("groups")), written)

    async def _key(self, kid: str) -> PyJWK:
        now, is_known = self._clock(), kid in self._keys
        age = now - self._fetched
        if is_known and age <= _WEEK:
            if age > _DAY and now - self._failed > _PAUSE:
                await self._fetching.begin(_SHORT)
        elif is_known or age > _PAUSE:
            if now - self._hung <= _REST:
                raise _unavailable()
            await self._fetching.result()
        if kid not in self._keys:
            raise _refused("its key is not one of the tenant's")
        return self._keys[kid]

    async def _renew(self) -> None:
        began = self._clock()
        try:
            self._keys = await self._fetch()
            self._fetched = self._clock()
        except Unavailable:
            self._failed = self._clock()
            if self._failed - began > _SHORT:
                self._hung = self._failed
            raise

    async def _fetch(self) -> dict[str, PyJWK]:
        import aiohttp
        import jwt

        from shared.connections.session import session

        timeout = aiohttp.ClientTimeout(total=self._patience)
        try:
            async with (
                session(timeout=timeout, trust_env=False) as http,
                http.get(self._keys_url, allow_redirects=False) as answer,
            ):
                answer.raise_for_status()
                keys = jwt.PyJWKSet.from_dict(await answer.json(content_type=None)).keys
        except (aiohttp.ClientError, TimeoutError, ValueError, AttributeError, jwt.PyJWTError) as error:
            log.warning("the keys of the tenant cannot be fetched: %s", type(error).__name__)
            raise _unavailable() from None
        return {key.key_id: key for key in keys if key.key_id}


def _texts(claim: object) -> frozenset[str]:
    """The strings of a claim that is a list.

    A token of a caller with more than 200 groups names none of them.
    """
    return frozenset(one for one in claim if isinstance(one, str)) if isinstance(claim, list) else frozenset()


def _sign_in(authority: str, base: str, audiences: tuple[str, ...]) -> SignIn | None:
    """How the page signs in.

    An application can request a token for itself only by its id, so one audience has to be the id.
    """
    client = next((one for one in audiences if _APPLICATION.fullmatch(one)), None)
    if client is None:
        return None
    parts = urlsplit(authority)
    return SignIn(
        origin=f"{parts.scheme}://{parts.netloc}",
        authorize=f"{base}/oauth2/v2.0/authorize",
        token=f"{base}/oauth2/v2.0/token",
        issuer=f"{base}/v2.0",
        client=client,
        scope=f"openid {client}/.default",
    )


_WHY = {
    "ExpiredSignatureError": "it has expired",
    "ImmatureSignatureError": "it is not valid yet",
    "InvalidAudienceError": "it is for another application",
    "InvalidIssuerError": "it is of another issuer",
    "MissingRequiredClaimError": "a claim is missing",
}


def _unavailable() -> Unavailable:
    return Unavailable("the keys that sign tokens cannot be fetched")


def _refused(why: str) -> Misuse:
    return Misuse(
        f"the access token is refused: {why}",
        status=401,
        remedy="get one for this deployment: az account get-access-token --resource …",
    )
