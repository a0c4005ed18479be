"""Where a command sends files: by local settings, else by the deployment's answer."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from shared.adapters.storage.wire.connection import Connection
from shared.core.errors import Misconfigured
from shared.settings import CLIENT_SETTINGS, Settings
from slipway.client.calls.refusal import Absent
from slipway.client.deployment import KEY, URL, NoStorage, settings_for
from slipway.client.service import Service, service
from slipway.failure import Failure
from slipway.terminal.screen import say

#: Hosts to which a token for Azure Storage may go: Microsoft's, in each cloud.
_AZURE = re.compile(
    r"https://[a-z0-9]{3,24}(-secondary)?(\.z[0-9]{1,2})?\.(blob|queue|table)"
    r"\.(core\.windows\.net|core\.usgovcloudapi\.net|core\.chinacloudapi\.cn|storage\.azure\.net)/?"
)
_SERVICES = tuple(f"SLIPWAY_STORAGE__{one}ServiceUri" for one in ("blob", "queue", "table"))


async def upload_settings(url: str, key: str, file: Path | None) -> Settings:
    """The settings of a file, the environment or the local stack; without these, the deployment's answer.

    Raises Failure if none of them names the storage.
    """
    try:
        return settings_for(url, file)
    except NoStorage as failure:
        address, secret = (os.environ.get(name, "") for name in (URL, KEY))
        async with service(url or address, key or secret) as api:
            try:
                return _checked(await api.settings())
            except Failure as error:
                raise Failure(f"{failure}; the deployment does not say it: {error}") from None


async def refuse_elsewhere(settings: Settings, api: Service) -> None:
    """Raise Failure if files would go to storage that the app at that address does not read."""
    try:
        theirs = _drop_container(Settings(await api.settings()))
    except Absent:  # an earlier version
        return
    except (Failure, Misconfigured, ValueError) as error:
        say(f"the app does not say in which container it looks for drops: {error}")
        return
    ours = _drop_container(settings)
    accounts = {ours.account, theirs.account} - {""}
    if ours.container != theirs.container or len(accounts) > 1:
        raise Failure(
            f"nothing was uploaded: the settings here name the container {ours.name}, but the app looks "
            f"for drops in {theirs.name}; name the app of that storage (--url, --profile), or the "
            "storage of that app (--settings), or use `slipway drop --force`"
        )


class _DropContainer(NamedTuple):
    """The container for drops; "" for an account without an address."""

    account: str
    container: str

    @property
    def name(self) -> str:
        return "/".join(filter(None, self))


def _drop_container(settings: Settings) -> _DropContainer:
    # After a dot comes the DNS zone of an account that Azure has put into one.
    account = Connection(*settings.connection()).account().partition(".")[0]
    return _DropContainer(account, settings.text("SLIPWAY_DROP_CONTAINER"))


def _checked(answer: Mapping[str, str]) -> Settings:
    values = {name: answer[name] for name in (*_SERVICES, *CLIENT_SETTINGS) if name in answer}
    for name in _SERVICES:
        if not _AZURE.fullmatch(address := values.get(name, "")):
            raise Failure(
                f"{name} is {address[:80]!r} there, not an address of Azure Storage; no token goes to it"
            )
    return Settings(values)
