"""One slurmrestd: its dialect, the token, and its errors as Slipway's classes.

The HTTP status does not show acceptance: 200 comes with errors, 500 with a job that exists, 504 with an
unknown outcome. The codes in the body decide.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from shared.core.errors import Busy, EngineError, Misconfigured, NotFound, Rejected, Saturated, Transient
from shared.core.no_answer import no_answer
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.wire.dialect import DIALECTS, Dialect, integer
from shared.engines.slurm.wire.first_response import Response, first_response
from shared.engines.slurm.wire.key import Key

if TYPE_CHECKING:
    from aiohttp import ClientSession

#: Seconds for a call (a list while slurmctld is down takes 18).
_PATIENCE = 30.0

#: Codes of slurmctld.
SLURMCTLD = range(2000, 3000)
#: Error code (slurm_errno.h) → what the caller does. Other codes leave the outcome unknown.
_UNKNOWN_JOB = 2017
_MEANINGS: dict[int, type[EngineError]] = {
    _UNKNOWN_JOB: NotFound,
    9001: Rejected,  # the request could not be read
    9003: NotFound,  # slurmdbd found nothing
    **dict.fromkeys((2000, 2001, 2002, 2003, 2010, 2045, 2066, 2105), Misconfigured),
    # A name from the operator is wrong: a node, a distribution, licenses, a reservation, a workload key…
    **dict.fromkeys((2018, 2023, 2048, 2052, 2053, 2057, 2094, 2099, 2114, 2123, 2133), Misconfigured),
    **dict.fromkeys((2004, 2005, 2006, 2014, 2015, 2029, 2044, 2051, 2069, 2072, 2115, 2119), Rejected),
    **dict.fromkeys((2050, 2074), Saturated),
}
#: The codes for which `sbatch` repeats a submission: EAGAIN (MaxJobCount is reached), "unable to create job
#: record, try again" (the same, in other versions), busy nodes. For other calls they are inconclusive.
_FULL = frozenset({11, 2007, 2016})
_NO_SUCH_TOKEN = (401, 403, 511)
_UNSPECIFIED = -1


@dataclass(frozen=True)
class Answer:
    """An answer: status, body, and the codes and texts of its errors and warnings."""

    status: int
    body: Mapping[str, Any]

    @property
    def errors(self) -> list[tuple[int, str]]:
        """Code and text of each error."""
        return [
            (integer(one.get("error_number")) or integer(one.get("error_code")) or 0, _text(one))
            for one in _objects(self.body.get("errors"))
        ]

    @property
    def codes(self) -> list[int]:
        """The codes of the errors, without their texts."""
        return [code for code, _ in self.errors]

    @property
    def warnings(self) -> list[str]:
        """The texts of the warnings, without slurmctld's reasons for not starting an accepted job at once."""
        members = _objects(self.body.get("warnings"))
        return [_text(one) for one in members if one.get("source") != "slurm_submit_batch_job()"]

    def number(self) -> int | None:
        """The number of the submitted job, if it has one: then the job exists, with any status."""
        result = self.body.get("result")
        value = self.body.get("job_id") or (result.get("job_id") if isinstance(result, dict) else None)
        return value if isinstance(value, int) and value > 0 else None

    def full(self) -> Saturated | None:
        """The error if slurmctld accepts no more jobs now; None for other answers."""
        for code, text in self.errors:
            if code in _FULL:
                return Saturated(f"slurmctld takes no more jobs now (MaxJobCount): {text} ({code})")
        return None

    def failure(self) -> EngineError | None:
        """The error of this answer; None if it has none."""
        for code, text in self.errors:
            if code in _MEANINGS:
                return _MEANINGS[code](f"Slurm: {text} ({code})")
        if self.errors or self.status >= 400:
            texts = "; ".join(f"{text} ({code})" for code, text in self.errors) or f"status {self.status}"
            # slurmctld itself answered: no reason to leave the cluster and all its jobs alone.
            answered = any(code in SLURMCTLD for code in self.codes)
            is_busy = answered or self.status == 429  # of a gateway before it
            return (Busy if is_busy else Transient)(f"Slurm: {texts}")
        return None


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
        raise Misconfigured(f"{self._cluster.url} speaks none of {versions}")

    async def call(self, method: str, path: str, body: Any = None) -> Answer:
        """One call below the dialect's root. `path` starts with a slash."""
        dialect = await self.agree()
        answer = await self._send(method, f"/slurm/{dialect.version}{path}", body)
        if any(code == _UNSPECIFIED for code, _ in answer.errors) and answer.status == 500:
            # Slurm 22.05 returns this for a bad token as well, and so does its ping then.
            self._raise_for_token(await self._send("GET", f"/slurm/{dialect.version}/ping/", None))
        return answer

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
        return Answer(status, _object(text))

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


def _text(one: Mapping[str, Any]) -> str:
    words = [str(one[name]) for name in ("description", "error") if one.get(name)]
    return ": ".join(words)[:300]


def _objects(members: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; an entry in another form counts as an empty object."""
    every = members if isinstance(members, list) else [members] if members else []
    return [one if isinstance(one, dict) else {} for one in every]


def _object(text: str) -> Mapping[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
