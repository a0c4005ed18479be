"""One submission of a message with its code: however often it is sent, it is one job, or one sweep."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from shared.jobspec import is_bare_job
from shared.settings import Settings
from shared.snapshots.pack import MIB
from slipway.client.calls.keys import new_key
from slipway.client.calls.refusal import Absent
from slipway.client.service import Service
from slipway.client.snapshot.mounted import refuse_other_code
from slipway.client.snapshot.pack import Archive, archive_of
from slipway.client.snapshot.rules import refuse_results
from slipway.client.snapshot.send import send
from slipway.client.snapshot.walk import Tree, walk
from slipway.client.snapshot.words import say_words
from slipway.failure import Failure
from slipway.terminal.screen import say

#: How often code is sent that the deployment does not have, although it had it a moment ago.
_TRIES = 3
#: The members of a message that name its code, the values of a sweep, and its idempotency key.
CODE, SWEEP, KEY = "code", "sweep", "idempotencyKey"

#: An inspection of a message, with its code, before it is sent.
Inspect = Callable[[bytes, Tree, Archive], Awaitable[Mapping[str, Any] | None]]
#: The setting that says how large code may be.
MOST = "SLIPWAY_CODE_MIB"


class Submission:
    """A message, by a key of its own."""

    def __init__(self, message: Mapping[str, Any], name: str, file: str, key: str = "") -> None:
        """`name` is that of a job whose message has none; a refusal names the places in `file`."""
        self._message, self._name, self._file = message, name, file
        # A key of the document stays in force, and is not sent twice.
        self._key, self._document = key or ("" if message.get(KEY) else new_key()), b""
        self.is_sweep = message.get(SWEEP) is not None

    @property
    def kind(self) -> str:
        """What it makes: "job" or "sweep"."""
        return "sweep" if self.is_sweep else "job"

    @property
    def key(self) -> str:
        """The key by which the same message joins what this one made."""
        return self._key or str(self._message.get(KEY, ""))

    @property
    def is_posted(self) -> bool:
        """Whether it may have arrived."""
        return bool(self._document)

    async def send(
        self,
        api: Service,
        archive: Archive,
        at: str = "",
        advance: Callable[[int], None] = lambda _: None,
    ) -> Mapping[str, Any]:
        """Send the code, then the message; the answer. Raises Failure."""
        document = with_code(self._message, archive, at)
        for remaining in reversed(range(_TRIES)):
            if not await send(api, archive, advance):
                say("the deployment has this code already")
            self._document = document
            try:
                return await self.post(api)
            except Absent:  # it was deleted meanwhile
                if not remaining:
                    raise
        raise AssertionError("unreachable")

    async def post(self, api: Service) -> Mapping[str, Any]:
        """Send the message once more, by the same key: the same job. Raises Failure."""
        if not self._document:
            raise Failure("the job was not submitted, so there is none")
        post = api.submit_sweep if self.is_sweep else api.submit
        answer: Mapping[str, Any] = await post(self._document, self._key, self._file, self._name)
        return answer


async def submit_folder(
    api: Service,
    document: Mapping[str, Any],
    folder: Path,
    name: str = "",
    file: Path | None = None,
    key: str = "",
    inspect: Inspect | None = None,
) -> Mapping[str, Any]:
    """Submit a job.json, or an envelope with one, with a folder as its code. Raises Failure.

    `file` has the document, and is not a part of the code; None if it comes from elsewhere. What `inspect`
    makes of it before it is sent is returned instead, unless that is None.
    """
    message = {"spec": document} if is_bare_job(document) else document
    if CODE in message:
        raise Failure("the document names its code already; leave it out, or the folder")
    tree = await asyncio.to_thread(_members, folder, file)
    refuse_other_code(message, tree)
    limit = Settings(await api.settings()).whole(MOST) * MIB
    async with archive_of(tree, limit) as archive:
        await say_words(tree, archive.packed)
        if inspect and (answer := await inspect(with_code(message, archive), tree, archive)) is not None:
            return answer
        called = "the document" if file is None else str(file)
        return await Submission(message, name, called, key).send(api, archive)


def _members(folder: Path, document: Path | None) -> Tree:
    if not folder.is_dir():
        raise Failure(f"{folder} is not a folder; name the one that is the code of the job")
    refuse_results(folder)
    tree = walk(folder)
    if document is not None:
        own = document.resolve()
        tree.files = [one for one in tree.files if one.path.resolve() != own]
    return tree


def with_code(message: Mapping[str, Any], archive: Archive, at: str = "") -> bytes:
    """The message with the archive as its code, to be unpacked there, by default as the working directory."""
    code = {"sha256": archive.packed.sha256} | ({"at": at} if at else {})
    return json.dumps({**message, CODE: code}).encode()
