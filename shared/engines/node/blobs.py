"""A blob container as a store, by plain HTTP: nothing is installed on the nodes.

A new blob is made with `If-None-Match: *`. Requests carry a token of the identity of the node's pool, from
the metadata service of Azure; with an emulator, a shared access signature.
"""

import http.client
import json
import socket
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence
from urllib.parse import quote, urlencode, urlsplit
from xml.etree import ElementTree

from shared.engines.node.proof import Proof
from shared.engines.node.store import Directory, Store

#: The version of the REST API; Azurite supports it as well.
VERSION = "2021-12-02"
#: The address from which a node gets a token of its identity; nothing else is requested there.
METADATA = "http://169.254.169.254/metadata/identity/oauth2/token"
RESOURCE = "https://storage.azure.com/"
#: Seconds: the timeout of one request, and for how long the storage may be away. A scheduler ends the task
#: soon after.
ANSWER, OUTAGE = 20.0, 240.0
#: How many seconds before a token expires another one is requested.
RENEWED = 300.0
#: Statuses that are tried again: throttled, timed out, failed. 0 stands for no response.
PASSING = (0, 408, 429, 500, 502, 503, 504)
#: The longest pause in seconds that the storage may request (`Retry-After`).
LONGEST_PAUSE = 60.0
#: The name of the blob that marks a store as existing.
BEGUN = "begun"


class Answer(NamedTuple):
    """A response; names of headers are in lower case, and status 0 stands for no response."""

    status: int
    headers: Dict[str, str]
    content: bytes


class Container:
    """The requests to one container.

    `where` has its address (`container`), and `signature`, or else `client`, the id of the identity, and
    perhaps `tokens`, another address for tokens.
    """

    def __init__(self, where: Dict[str, str]) -> None:
        self._root, self._where = where["container"].rstrip("/"), where
        self._token, self._renew_at = "", 0.0

    def call(
        self,
        method: str,
        name: str,
        query: Optional[Dict[str, str]] = None,
        headers: Optional[Dict[str, str]] = None,
        body: bytes = b"",
        patience: float = OUTAGE,
        accept: Any = (),
    ) -> Answer:
        """A response of the storage, with success or one of the statuses to `accept`. Raises OSError."""
        until, pause = time.time() + patience, 0.5
        while True:
            try:
                answer = self._call(method, name, query or {}, headers or {}, body)
            except (OSError, http.client.HTTPException) as error:
                answer = Answer(0, {"x-ms-error-code": _why(error)}, b"")
            if 200 <= answer.status < 300 or answer.status in accept:
                return answer
            if answer.status == 401:
                self._renew_at = 0.0  # the token was revoked, or the clock is wrong
            if answer.status not in (*PASSING, 401) or time.time() + pause > until:
                code = answer.headers.get("x-ms-error-code", "")
                # Never its query, which may be a signature.
                raise OSError(f"{method} {self._root}/{name}: {answer.status or 'no answer'} {code}".rstrip())
            time.sleep(max(pause, _asked_pause(answer.headers)))
            pause = min(2 * pause, 10.0)

    def _call(
        self, method: str, name: str, query: Dict[str, str], headers: Dict[str, str], body: bytes
    ) -> Answer:
        url = self._root + ("/" + quote(name) if name else "")
        words = [urlencode(query, quote_via=quote), self._where.get("signature", "")]
        call_headers = {"x-ms-version": VERSION, "Content-Length": str(len(body))}
        call_headers.update(headers)
        if "signature" not in self._where:
            call_headers["Authorization"] = "Bearer " + self._bearer()
        return request(method, url + "?" + "&".join(filter(None, words)), call_headers, body)

    def _bearer(self) -> str:
        if time.time() >= self._renew_at:
            query = {"api-version": "2018-02-01", "resource": RESOURCE}
            if self._where.get("client"):
                query["client_id"] = self._where["client"]
            url = self._where.get("tokens") or METADATA
            answer = request("GET", url + "?" + urlencode(query), {"Metadata": "true"}, b"")
            if answer.status != 200:
                raise OSError(f"no token for the identity of the pool: {answer.status}")
            token = json.loads(answer.content.decode())
            self._token = str(token["access_token"])
            self._renew_at = float(token.get("expires_on") or 0) - RENEWED
        return self._token


def _why(error: Exception) -> str:
    """Why a request was not answered."""
    if isinstance(error, socket.timeout):
        return f"(within {ANSWER:g} s)"
    if isinstance(error, OSError):
        return f"({error.strerror or 'the connection was closed'})"
    return "(the response cannot be read)"


def _asked_pause(headers: Dict[str, str]) -> float:
    """The seconds for which a throttled request has to wait; 0 if none are named."""
    try:
        return min(max(float(headers.get("retry-after", 0)), 0.0), LONGEST_PAUSE)
    except ValueError:  # a date, which the storage never sends
        return 0.0


def request(method: str, url: str, headers: Dict[str, str], body: bytes) -> Answer:
    """One request, straight to its host: no proxy of the job's environment sees a token. Raises OSError."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    kind: Callable[..., Any] = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=ANSWER)
    try:
        connection.request(method, parts.path + "?" + parts.query, body=body or None, headers=headers)
        answer = connection.getresponse()
        received = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, received, answer.read())
    finally:
        connection.close()


class Blobs(Store):
    """The blobs of a container whose names begin with a prefix."""

    def __init__(self, container: Container, prefix: str, proof: Optional[Proof] = None) -> None:
        super().__init__(proof or Proof())
        self._container, self._prefix = container, prefix.strip("/")
        self.name = self._prefix.rpartition("/")[2]

    def __str__(self) -> str:
        return self._prefix

    def child(self, name: str) -> "Blobs":
        """The store with a longer prefix."""
        return Blobs(self._container, f"{self._prefix}/{name}", self.proof.child(name))

    def sibling(self, name: str, proof: Proof) -> "Blobs":
        """The store with another last part of the prefix."""
        return Blobs(self._container, f"{self._prefix.rpartition('/')[0]}/{name}", proof)

    def prepare(self) -> None:
        """Does nothing: a prefix exists with its first blob."""

    def names(self) -> List[str]:
        """The names of blobs and of stores within, by a list of one level."""
        prefix, marker = self._prefix + "/", ""
        names = []  # type: List[str]
        while True:
            query = {"restype": "container", "comp": "list", "prefix": prefix, "delimiter": "/"}
            if marker:
                query["marker"] = marker
            answer = self._container.call("GET", "", query)
            try:
                document = ElementTree.fromstring(answer.content)  # noqa: S314 - of the storage itself
            except ElementTree.ParseError:
                raise OSError("the list of a container cannot be read") from None
            entries = [entry.findtext("Name") or "" for entry in document.iter() if _is_entry(entry)]
            names += [name[len(prefix) :].rstrip("/") for name in entries]
            marker = document.findtext("NextMarker") or ""
            if not marker:
                break
        if not names:
            raise FileNotFoundError(prefix)
        return names

    def has(self, name: str) -> bool:
        """Whether a blob exists, by a HEAD, which is cheap: a run looks every few seconds."""
        answer = self._container.call("HEAD", self._path(name), patience=0.0, accept=(404,))
        return answer.status != 404

    def numbers_after(self, number: int) -> Iterator[int]:
        """Those that follow one another: a job cannot write there, or remove one."""
        while self.has(str(number + 1)):
            number += 1
            yield number

    def load(self, name: str, waits: bool = True) -> bytes:
        """Read a blob. Raises OSError if the storage is away, because then its content is not known."""
        patience = OUTAGE if waits else 0.0
        answer = self._container.call("GET", self._path(name), patience=patience, accept=(404,))
        return answer.content if answer.status == 200 else b""

    def save(self, name: str, text: bytes, only_new: bool = False) -> None:
        """Write a blob."""
        headers = {"x-ms-blob-type": "BlockBlob", "Content-Type": "application/json"}
        headers.update({"If-None-Match": "*"} if only_new else {})
        # 412 if another request makes it at the same time.
        accept = (409, 412) if only_new else ()
        answer = self._container.call("PUT", self._path(name), headers=headers, body=text, accept=accept)
        if answer.status in accept:
            raise FileExistsError(self._path(name))

    def reserve(self, name: str) -> None:
        """Write the first blob with that prefix."""
        self.add(f"{name}/{BEGUN}", {})

    def release(self, name: str) -> None:
        """Delete that blob."""
        self._container.call("DELETE", self._path(f"{name}/{BEGUN}"), accept=(404,))

    def _path(self, name: str) -> str:
        return f"{self._prefix}/{name}"


def _is_entry(element: Any) -> bool:
    return element.tag in ("Blob", "BlobPrefix")


def store_of(text: str, keys: Sequence[str] = ()) -> Store:
    """The store that a plan names: the path of a directory, or a container with a prefix in it."""
    if text.startswith("/"):
        return Directory(Path(text), Proof(keys))
    where = json.loads(text)
    return Blobs(Container(where), where["prefix"], Proof(keys))
