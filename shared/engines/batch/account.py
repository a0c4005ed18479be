"""A Batch account as Azure Resource Manager describes it: its quotas. aiohttp is imported lazily."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from shared.core.errors import EngineError, Misconfigured, Transient
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.quota import Quota, quota_of
from shared.login import Login

log = logging.getLogger(__name__)

_API = "2025-06-01"
#: Seconds that a view of a pool waits for the quota, and that the question may take beside it; an operator
#: waits as long for the answer to a command.
_SHORT, _PATIENCE = 0.5, 30.0
#: Seconds for which an answer is valid, and after which a failed query is repeated.
_GOOD, _AGAIN = 3600.0, 300.0
#: Seconds after which an answer no longer counts, if no other one came.
_LONGEST = 7200.0
_REMEDY = "it needs the action Microsoft.Batch/batchAccounts/read, e.g. the role Azure Batch Data Contributor"


class Account:
    """The account of one cluster. Without the option `resource` it is not queried, and nothing is known."""

    def __init__(
        self,
        cluster: BatchCluster,
        client_id: str = "",
        *,
        address: str = "",
        credential: Any = None,
        patience: float = _SHORT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._cluster, self._address, self._clock = cluster, address or cluster.management, clock
        self._patience = patience
        scope = f"{cluster.management}/.default"
        self._login = Login("Azure Resource Manager", scope, client_id, credential, clock)
        self._properties: Mapping[str, Any] = {}
        #: when the account was last asked, for how long no question follows, and when it last answered
        self._asked_at, self._pause, self._read_at = float("-inf"), 0.0, float("-inf")
        self._question: asyncio.Task[None] | None = None

    async def quota(self, size: str) -> Quota | None:
        """The quota for nodes of this size; None if it is not known. Never raises.

        It is at most an hour old, or two where the account cannot be read. An answer that takes longer than a
        view may wait is there for the next one.
        """
        if self._cluster.resource and not 0 <= self._clock() - self._asked_at < self._pause:
            self._asked_at, self._pause = self._clock(), _AGAIN
            self._question = asyncio.create_task(self._ask())
            await asyncio.wait([self._question], timeout=self._patience)
        return self._quota(self._properties if abs(self._clock() - self._read_at) < _LONGEST else {}, size)

    async def _ask(self) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                self._properties = await self._read()
        except (EngineError, TimeoutError) as error:
            why = str(error) or "no answer in time"
            log.warning("the quota of the account of %s is not known: %s", self._cluster.name, why)
        else:
            self._asked_at = self._read_at = self._clock()
            self._pause = _GOOD

    async def read_quota(self, size: str) -> Quota | None:
        """The quota right now; None if the account does not report it. Raises EngineError."""
        if not self._cluster.resource:
            return None
        try:
            async with asyncio.timeout(_PATIENCE):
                return self._quota(await self._read(), size)
        except TimeoutError:
            raise Transient("Azure Resource Manager does not answer in time") from None

    async def close(self) -> None:
        """Close the connections of the credential, and ask no more."""
        if self._question is not None:
            self._question.cancel()
        await self._login.close()

    def _quota(self, properties: Mapping[str, Any], size: str) -> Quota | None:
        return quota_of(self._cluster.owner, properties, size, spot=self._cluster.spot)

    async def _read(self) -> Mapping[str, Any]:
        from aiohttp import ClientError

        from shared.connections.session import session

        url = f"{self._address}{self._cluster.resource}?api-version={_API}"
        headers = {"Authorization": f"Bearer {await self._login.token()}"}
        try:
            async with (
                session(headers=headers) as http,
                http.get(url, allow_redirects=False) as answer,
            ):
                status, content = answer.status, await answer.read()
        except (ClientError, OSError, ValueError):
            raise Transient("Azure Resource Manager does not answer") from None
        if status in (401, 403):
            raise Misconfigured(f"Azure Resource Manager refuses to show the account: {_REMEDY}")
        if status == 404:
            raise Misconfigured("Azure does not know an account with the id in `resource`")
        return _properties(status, content)


def _properties(status: int, content: bytes) -> Mapping[str, Any]:
    """The properties in an answer. Raises Transient if it has none."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    properties = document.get("properties") if isinstance(document, dict) else None
    if status != 200 or not isinstance(properties, dict):
        raise Transient(f"Azure Resource Manager answers {status}, without the properties of the account")
    return properties
