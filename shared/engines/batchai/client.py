"""The client of one Batch AI workspace: the service with an identity, or an emulator on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from shared.core.errors import Misconfigured
from shared.login import Login

#: The hosts of Azure Resource Manager in every cloud; the service Batch AI behind them was shut down in 2019.
_AZURE = (
    "management.azure.com",
    "management.core.windows.net",
    "management.usgovcloudapi.net",
    "management.chinacloudapi.cn",
    "management.microsoftazure.de",
)
_SCOPE = "https://management.azure.com/.default"


@dataclass(frozen=True)
class Workspace:
    """The workspace of the engine's jobs.

    `url` is the address of an emulator; plain http only on loopback.
    """

    url: str
    subscription: str
    group: str
    name: str
    client_id: str = ""

    @property
    def id(self) -> str:
        """The ARM id with which the ids of its clusters and experiments begin."""
        return (
            f"/subscriptions/{self.subscription}/resourceGroups/{self.group}"
            f"/providers/Microsoft.BatchAI/workspaces/{self.name}"
        )

    def cluster_id(self, cluster: str) -> str:
        """The ARM id of a cluster."""
        return f"{self.id}/clusters/{cluster}"

    @property
    def trouble(self) -> str:
        """Why no job can run there, with the remedy; "" if jobs may run."""
        host = (urlsplit(self.url).hostname or "").lower().rstrip(".")
        # A region may precede the host.
        if host and not any(f".{host}".endswith(f".{azure}") for azure in _AZURE):
            return ""
        why = "Azure has ended its service Batch AI" if host else "SLIPWAY_BATCHAI_URL names no Batch AI API"
        return f"{why}: describe a Slurm cluster in SLIPWAY_CLUSTERS, or give SLIPWAY_BATCHAI_URL an emulator"


def address(path: str, query: Mapping[str, str]) -> str:
    """A path with a query, encoded: the SDK sends its `params` as they are, and `&` would end a value."""
    encoded = urlencode(query, quote_via=quote, safe="")
    return f"{path}?{encoded}" if encoded else path


def connect(workspace: Workspace) -> Any:
    """The SDK's async client, which is imported now.

    Raises Misconfigured for a service that has been shut down, and for plain http to another machine.
    """
    if workspace.trouble:
        raise Misconfigured(workspace.trouble)
    from azure.core.pipeline.policies import SansIOHTTPPolicy
    from azure.mgmt.batchai.aio import BatchAI

    from shared.connections.transport import Transport

    address, transport = (
        urlsplit(workspace.url),
        Transport(service="the cluster's API", connection_timeout=5, read_timeout=20),
    )
    # The ledger owns the retries; the SDK's own would outlast the dispatch deadline.
    options: dict[str, Any] = {
        "base_url": workspace.url,
        "retry_total": 1,
        "retry_backoff_factor": 0.2,
        "per_retry_policies": [_whole_answers()],
    }
    if address.scheme == "http":
        if address.hostname not in ("127.0.0.1", "localhost", "::1"):
            raise Misconfigured("plain http is only for an emulator on this machine: use https")
        return BatchAI(
            _NoCredential(),
            workspace.subscription,
            authentication_policy=SansIOHTTPPolicy(),
            transport=transport,
            **options,
        )
    credential = Login("Batch AI", _SCOPE, workspace.client_id).credential()
    return BatchAI(credential, workspace.subscription, transport=transport, **options)


def _whole_answers() -> Any:
    """Reads a streamed response to its end within the try of the request; a broken one is tried again."""
    from azure.core.pipeline.policies import AsyncHTTPPolicy

    class WholeAnswers(AsyncHTTPPolicy):  # type: ignore[type-arg]
        async def send(self, request: Any) -> Any:
            answer = await self.next.send(request)
            if request.context.options.get("stream"):
                await answer.http_response.read()
            return answer

    return WholeAnswers()


class _NoCredential:
    """Satisfies the client's constructor; the emulator requires no login."""

    async def get_token(self, *scopes: str, **options: Any) -> Any:
        raise Misconfigured("the emulator takes no token")

    async def close(self) -> None:
        return

    async def __aenter__(self) -> _NoCredential:
        return self

    async def __aexit__(self, *details: object) -> None:
        return
