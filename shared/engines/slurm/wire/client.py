"""One slurmrestd: its dialect, the token, and its answers."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from shared.core.errors import Busy, Misconfigured, Transient
from shared.core.no_answer import no_answer
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.wire.answer import Answer
from shared.engines.slurm.wire.dialect import DIALECTS, Dialect
from shared.engines.slurm.wire.first_response import Response, first_response
from shared.engines.slurm.wire.key import Key

if TYPE_CHECKING:
    from aiohttp import ClientSession

#: Seconds for a call (a list while slurmctld is down takes 18).
_PATIENCE = 30.0

_NO_SUCH_TOKEN = (401, 403, 511)
#: "Protocol authentication error": slurmctld does not accept what slurmrestd has passed on.
_NOT_AUTHENTIC = 1007
_UNSPECIFIED = -1


class SlurmClient:
    """Calls to one cluster. All raise Misconfigured if it refuses us, and Transient without an answer.

    `dialects`: those that it may speak, the first choice first.
    """

    def __init__(self, cluster: SlurmCluster, key: Key, dialects: Sequence[Dialect] = DIALECTS) -> None:
        self._cluster, self._key, self._dialects = cluster, key, dialects
        self._session: ClientSession | None = None
        self._dialect: Dialect | None = None

    @property
    def dialect(self) -> Dialect | None:
        """The agreed dialect; None before the first call."""
        return self._dialect

    async def agree(self) -> Dialect:
        """The newest dialect that both sides know."""
        if self._dialect is None:
            self._dialect = await self._newest()
        return self._dialect

    async def _newest(self) -> Dialect:
        for dialect in self._dialects:
            answer = await self._send("GET", f"/slurm/{dialect.version}/ping/", None)
            if answer.status == 404:
                continue
            self._raise_for_token(answer)
            if failure := answer.failure():
                raise failure
            return dialect
        versions = f"{self._dialects[-1].version} to {self._dialects[0].version}"
        remedy = "upgrade Slurm where it is older than 22.05, and Slipway where it is newer"
        raise Misconfigured(f"{self._cluster.url} speaks none of {versions}: {remedy}")

    async def call(self, method: str, path: str, body: Any = None) -> Answer:
        """One call below the dialect's root. `path` starts with a slash.

        Raises Busy if the server has another version now: the caller's request is in the earlier dialect.
        """
        dialect = await self.agree()
        answer = await self._send(method, f"/slurm/{dialect.version}{path}", body)
        if answer.status == 404 and type(answer.failure()) is Transient:  # no code that means something
            await self._agree_anew(dialect)
        if any(code == _UNSPECIFIED for code, _ in answer.errors) and answer.status == 500:
            # Slurm 22.05 returns this for a bad token as well, and so does its ping then.
            self._raise_for_token(await self._send("GET", f"/slurm/{dialect.version}/ping/", None))
        return answer

    async def _agree_anew(self, before: Dialect) -> None:
        """Find out whether an upgrade has replaced the dialect, for a path that the server does not know."""
        self._dialect = None
        now = await self.agree()
        if now is not before:
            name = self._cluster.name
            raise Busy(f"Slurm of {name} speaks {now.version} now, and {before.version} no more")

    async def accounting(self, path: str) -> Answer:
        """A query to slurmdbd, through slurmrestd."""
        dialect = await self.agree()
        return await self._send("GET", f"/slurmdb/{dialect.version}{path}", None)

    async def close(self) -> None:
        """Close the connections to slurmrestd."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _send(self, method: str, path: str, body: Any) -> Answer:
        from aiohttp import ClientError, ClientResponseError

        url, headers = self._cluster.url.rstrip("/") + path, self._headers()
        try:
            try:
                status, text = await self._exchange(method, url, body, headers)
            except ClientResponseError:
                # A repeated submission may create one more held copy, which is found later.
                status, text = await first_response(method, url, body, headers, _PATIENCE)
        except (ClientError, OSError, EOFError, ValueError) as error:
            raise Transient(f"{self._cluster.name} does not answer: {no_answer(error, _PATIENCE)}") from None
        if status in _NO_SUCH_TOKEN:
            self._raise_if_expired()
            raise Misconfigured(f"slurmrestd of {self._cluster.name} refuses our token ({status})")
        answer = Answer(status, _object(text))
        if _NOT_AUTHENTIC in answer.codes:
            self._raise_if_expired()
            text = "Is the key its AuthAltParameters' jwt_key, and does munge run where slurmrestd does?"
            raise Misconfigured(f"slurmctld of {self._cluster.name} refuses our token. {text}")
        return answer

    async def _exchange(self, method: str, url: str, body: Any, headers: Mapping[str, str]) -> Response:
        from aiohttp import ClientTimeout

        from shared.connections.session import session

        if self._session is None:
            # Connections stay open: slurmrestd 22.05 garbles the answer to a request that closes one.
            timeout = ClientTimeout(total=_PATIENCE, connect=5)
            self._session = session(service=f"slurmrestd of {self._cluster.name}", timeout=timeout)
        async with self._session.request(
            method, url, json=body, headers=headers, allow_redirects=False
        ) as answer:
            # Slurm passes on the names of jobs as any user wrote them, even if they are not UTF-8.
            return Response(answer.status, await answer.text("utf-8", "replace"))

    def _raise_for_token(self, ping: Answer) -> None:
        """Raises Misconfigured if the token does not allow a ping."""
        if ping.status == 500 and any(code == _UNSPECIFIED for code, _ in ping.errors):
            self._raise_if_expired()
            raise Misconfigured("slurmctld refuses our token: is the key its AuthAltParameters' jwt_key?")

    def _raise_if_expired(self) -> None:
        """Raises Misconfigured, for a token that was refused, if its time is over by our clock."""
        end = self._key.end
        if end is not None and end <= time.time():
            raise Misconfigured(
                f"the token for {self._cluster.name} expired at {_shown(end)}: put a new one into "
                "SLIPWAY_SLURM_KEYS (`scontrol token lifespan=SECONDS`), or the key that signs tokens"
            )

    def _headers(self) -> dict[str, str]:
        user = self._cluster.user
        # Slurm 22.05 does not know the Authorization header, and requires both.
        return {"X-SLURM-USER-NAME": user, "X-SLURM-USER-TOKEN": self._key.token(user)}


def _shown(moment: float) -> str:
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError, OSError):
        return "a time long ago"


def _object(text: str) -> Mapping[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
