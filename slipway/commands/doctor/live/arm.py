"""Azure Resource Manager by REST, with a token of the signed-in identity."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp

from shared.core.pacing.backoff import parse_retry_after
from slipway.client.calls.unreachable import why
from slipway.client.calls.wire import session
from slipway.client.deployment import token
from slipway.failure import Failure

_SCOPE = "https://management.azure.com/.default"
_PATIENCE = aiohttp.ClientTimeout(total=30)
#: The most characters of a message, and pages of a list, to read.
_LONGEST, _PAGES = 300, 50


class ArmError(Failure):
    """An error of Resource Manager, with its status and code."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"Azure answers {status} {code}: {message}")
        self.status = status
        self.code = code


class Arm:
    """Reads resources. Each call raises Failure."""

    def __init__(self, http: aiohttp.ClientSession, address: str) -> None:
        self._session = http
        self._address = address

    async def get(self, path: str, version: str) -> dict[str, Any]:
        """A resource, or one page of a list."""
        return await self._call("GET", f"{self._address}{path}?api-version={version}")

    async def every(self, path: str, version: str) -> list[dict[str, Any]]:
        """All items of a list, over its pages."""
        results: list[dict[str, Any]] = []
        url = f"{self._address}{path}?api-version={version}"
        for _ in range(_PAGES):
            page = await self._call("GET", url)
            results += page.get("value") or []
            url = page.get("nextLink") or ""
            if not url:
                break
            if not url.startswith(f"{self._address}/"):  # never send the token anywhere else
                raise Failure("Azure names a next page at another address")
        return results

    async def post(self, path: str, version: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a query with a body."""
        return await self._call("POST", f"{self._address}{path}?api-version={version}", json=body)

    async def _call(self, method: str, url: str, **options: Any) -> dict[str, Any]:
        try:
            async with self._session.request(method, url, allow_redirects=False, **options) as answer:
                body = await answer.json(content_type=None)
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise Failure(f"no answer from Azure Resource Manager: {why(error)}") from error
        if not isinstance(body, dict):
            raise Failure(f"Azure answers {status}, but no object")
        if status != 200:
            reason = body.get("error") or body
            code, message = (str(reason.get(name) or "")[:_LONGEST] for name in ("code", "message"))
            if pause := parse_retry_after(answer.headers.get("Retry-After"), datetime.now(UTC)):
                message += f"; it asks for a pause of {pause:,.0f} s"
            raise ArmError(status, code, message)
        return body


@asynccontextmanager
async def resource_manager(address: str) -> AsyncIterator[Arm]:
    """Resource Manager, for the length of the block. Raises Failure if no one is signed in."""
    headers = {"Authorization": f"Bearer {await token(_SCOPE)}"}
    async with session(address, timeout=_PATIENCE, headers=headers) as http:
        yield Arm(http, address)
