"""The calls that send the code of a job, and read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from slipway.client.calls.wire import Calls, id_of
from slipway.failure import NO_ANSWER, Failure

#: A slow line takes its time for an archive.
_UPLOAD = aiohttp.ClientTimeout(sock_connect=30, sock_read=120)


@dataclass(frozen=True)
class Offer:
    """Whether the deployment has an archive, and else the address that takes it; the address is a secret."""

    is_known: bool
    upload: str = field(default="", repr=False)


class CodeCalls(Calls):
    """What a client asks about code."""

    async def offer_code(self, sha256: str, size: int) -> Offer:
        """Ask for an archive by its digest. Raises Failure for an address that is not a safe one."""
        body, headers = json.dumps({"sha256": sha256, "bytes": size}), {"Content-Type": "application/json"}
        answer = await self._json("POST", "snapshots", data=body, headers=headers)
        if answer["known"] is True:
            return Offer(True)
        return Offer(False, self._checked(answer["upload"]))

    async def send_code(self, sha256: str, archive: bytes) -> None:
        """Send an archive through the app, which takes small ones: where storage cannot be reached."""
        headers = {"Content-Type": "application/octet-stream"}
        await self._json("PUT", f"snapshots/{sha256}", data=archive, headers=headers, timeout=_UPLOAD)

    async def code(self, job_id: str) -> Mapping[str, Any]:
        """The code of a job: its digest, its files, and the address that reads it for some minutes."""
        code = await self._json("GET", f"jobs/{id_of(job_id)}/code")
        return {**code, "url": self._checked(code["url"])}

    def _checked(self, address: object) -> str:
        schemes = ("https://",) if self._url.startswith("https://") else ("https://", "http://")
        if not str(address).startswith(schemes):
            raise Failure(
                "the service names an address without encryption for the code, which is not used", NO_ANSWER
            )
        return str(address)
