"""A job with secrets: its files go to the drop container, and its document to the API, which seals them.

What lies in the drop container stays there, for all who read it.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shared.intake.drops.folder import ENVELOPE_FILE, JOB_FILE
from shared.jobspec import Defaults, complete
from shared.settings import Settings
from slipway.client.calls.keys import new_key
from slipway.client.folder_lease import folder_lease
from slipway.client.service import Service, service
from slipway.client.storage import storage_account
from slipway.commands.drop import to_upload
from slipway.commands.running.begin import FOLDER_LABEL, Beginning
from slipway.commands.running.secrets import holds_secrets, refuse_secrets, sendable
from slipway.commands.running.upload import upload
from slipway.failure import Failure
from slipway.screen import say

_DOCUMENTS = (ENVELOPE_FILE, JOB_FILE)
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def beginning_of(settings: Settings, folder: Path, name: str) -> Beginning:
    """The way of a staged folder: a job with secrets is sent to the app, others are dropped. Raises Failure.

    A document with secrets that cannot be sent, such as a template, is refused.
    """
    if not holds_secrets(folder / JOB_FILE):
        return Beginning(settings, folder, name)
    if sendable((folder / JOB_FILE).read_bytes()) is None:
        refuse_secrets(folder)
        return Beginning(settings, folder, name)
    return SealedBeginning(settings, folder, name)


class SealedBeginning(Beginning):
    """An upload without its job.json, which is posted afterwards."""

    #: the message and its key, as soon as it is sent
    _message: bytes = b""
    _key = ""

    async def job(self, url: str, key: str) -> str:
        """Upload the changed files, post the job, and return its id. Raises Failure."""
        async with service(url, key) as api, folder_lease(self._settings, self._target):
            if active := await self._active(api):
                raise Failure(await self._in_the_way(api, min(active)))
            await _remove_documents(self._settings, self._target)
            if len(to_upload(self._folder)) > sum((self._folder / one).is_file() for one in _DOCUMENTS):
                self._uploaded = await upload(
                    self._settings, self._folder, self._name, changed=True, remarks=False, without=_DOCUMENTS
                )
                say(f"uploaded {self._uploaded.number} files, to {self._uploaded.container}/{self._target}/")
            say("its job.json has secrets, so it is not uploaded but sent to the app, which seals them")
            self._key, self._message = new_key(), self._document()
            return await self._post(api)

    @property
    def begins(self) -> bool:
        """Whether the job was sent, so that it may begin."""
        return bool(self._message)

    async def late(self, url: str, key: str) -> str:
        """The id of the job that was sent before a Ctrl-C. Raises Failure."""
        if not self._message:
            raise Failure(self.interrupted())
        async with service(url, key, met=True) as api:
            return await self._post(api)  # with the same key: the same job

    def interrupted(self) -> str:
        """The message after a Ctrl-C."""
        if not self._message:
            return "the job was not sent, so no job begins"
        return (
            "the job was sent and may begin; find it with slipway jobs --source http --limit 5, and end it "
            "with slipway cancel JOB"
        )

    async def _post(self, api: Service) -> str:
        name = _NAME.sub("-", self._target.rpartition("/")[2]).strip("-")
        self.accepted = await api.submit(self._message, self._key, JOB_FILE, name)
        return str(self.accepted["id"])

    def _document(self) -> bytes:
        """The message: the job.json, in the envelope beside it, with the paths of the uploaded files."""
        account, _ = self._settings.account()
        defaults = Defaults(
            drop_container=self._settings.text("SLIPWAY_DROP_CONTAINER"), drop_account=account
        )
        job = sendable((self._folder / JOB_FILE).read_bytes())
        completed = complete(job or {}, defaults, folder=self._target).document
        file = self._folder / ENVELOPE_FILE
        envelope: Mapping[str, Any] = json.loads(file.read_bytes()) if file.is_file() else {}
        labels = {**envelope.get("labels", {}), FOLDER_LABEL: self._target}
        return json.dumps({**envelope, "labels": labels, "spec": completed}).encode()


async def _remove_documents(settings: Settings, target: str) -> None:
    """Delete the documents of an earlier upload, which would begin a job with the new files."""
    from azure.core.exceptions import ResourceNotFoundError

    container = settings.text("SLIPWAY_DROP_CONTAINER")
    async with storage_account(settings) as account:
        for name in (f"{target}/{one}" for one in _DOCUMENTS):
            try:
                await account.blobs.get_blob_client(container, name).delete_blob()
            except ResourceNotFoundError:
                continue
            say(f"deleted {container}/{name} of an earlier upload, which would begin a job of its own")
