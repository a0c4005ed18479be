"""Deletes messages: one request for each, without the layers of the queue client, which double its cost."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from azure.core import AsyncPipelineClient
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ResourceNotFoundError
from azure.core.pipeline.policies import AsyncRetryPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest
from azure.storage.queue import QueueSasPermissions, generate_queue_sas
from azure.storage.queue.aio import QueueClient

Http = AsyncPipelineClient[HttpRequest, AsyncHttpResponse]

#: How long an authorisation is valid, and how early it is renewed: clocks differ by minutes.
_VALID, _SPARE = timedelta(hours=1), timedelta(minutes=30)
#: The errors of the queue client.
_ERRORS = {401: ClientAuthenticationError, 403: ClientAuthenticationError, 404: ResourceNotFoundError}


def http_client(**options: Any) -> Http:
    """A client that does no more than retry; `options` are those of its transport, e.g. `read_timeout`."""
    retry = AsyncRetryPolicy(retry_total=2, retry_backoff_factor=0.5)
    return AsyncPipelineClient("", policies=[retry], **options)


class Deletion:
    """Deletes messages of one queue by a shared access signature: the connection's, or one made with its key.

    The signature is in the address, so no log line may show a request.
    """

    def __init__(
        self, queue: QueueClient, http: Http, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._address, _, self._signature = queue.url.partition("?")
        self._queue = queue
        self._http = http
        self._clock = clock
        self._renew_at = datetime.min.replace(tzinfo=UTC)

    async def delete(self, message: str, receipt: str) -> None:
        """Delete a message that is still ours; raises ResourceNotFoundError if it is not, or AzureError."""
        address = f"{self._address}/messages/{message}?popreceipt={quote(receipt, safe='')}"
        response = await self._http.send_request(HttpRequest("DELETE", f"{address}&{self._authorised()}"))
        if (status := response.status_code) >= 300:
            raise _ERRORS.get(status, HttpResponseError)(response=response)

    def _authorised(self) -> str:
        key, now = self._queue.credential, self._clock()
        if key is not None and now >= self._renew_at:
            self._signature = generate_queue_sas(
                key.account_name,
                self._queue.queue_name,
                key.account_key,
                permission=QueueSasPermissions(process=True),
                expiry=now + _VALID,
            )
            self._renew_at = now + _VALID - _SPARE
        return self._signature
