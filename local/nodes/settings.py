"""What nodes need to know about this machine, and about the storage account whose volumes they mount."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

_SERVICES = ("blob", "queue", "table")


class Address(NamedTuple):
    """Where a service listens."""

    host: str
    port: int


@dataclass(frozen=True, kw_only=True)
class Account:
    """The storage account that mounts may use, from a connection string."""

    name: str
    key: str = field(repr=False)
    blob_endpoint: str
    #: Where its services on this machine listen: blob, queue, table.
    local: Mapping[str, Address] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class NodeSettings:
    """`data` holds nodes, shares, mirrors of blob containers, and what an emulator remembers."""

    data: Path
    account: Account
    containers: Literal["auto", "host", "require"] = "auto"
    #: What mount commands mount: a JSON object, command → directory of this machine. None: they are refused.
    unmanaged_mounts: Path | None = None
    #: Seconds that the processes of a job have from SIGTERM to SIGKILL.
    grace: float = 30.0

    @property
    def shares(self) -> Path:
        """Where file shares are, by account and share."""
        return self.data / "shares"

    @property
    def blobs(self) -> Path:
        """Where mirrors of blob containers are, by account and container."""
        return self.data / "blobs"

    @property
    def servers(self) -> Path:
        """Where file servers keep their files."""
        return self.data / "servers"


class SettingsError(ValueError):
    """An invalid setting; the message names the remedy and never shows a value."""


def account(connection_string: str) -> Account:
    """The account of a connection string. Raises SettingsError."""
    pairs = (part.split("=", 1) for part in connection_string.split(";") if "=" in part)
    values = {name.strip().lower(): value.strip() for name, value in pairs}
    try:
        name, key = values["accountname"], values["accountkey"]
    except KeyError as error:
        raise SettingsError(
            f"the storage connection string lacks {error.args[0]}; it must name AccountName and AccountKey"
        ) from None
    suffix = values.get("endpointsuffix", "core.windows.net")
    endpoint = values.get("blobendpoint") or f"https://{name}.blob.{suffix}"
    addresses = {service: _loopback(values.get(f"{service}endpoint", "")) for service in _SERVICES}
    services = {service: address for service, address in addresses.items() if address}
    return Account(name=name, key=key, blob_endpoint=endpoint.rstrip("/"), local=services)


def _loopback(url: str) -> Address | None:
    """The address of plain http on this machine."""
    address = urlsplit(url)
    if address.scheme != "http" or address.hostname not in ("127.0.0.1", "localhost"):
        return None
    return Address(address.hostname, address.port or 80)


def table(file: Path) -> dict[str, str]:
    """The JSON object of a file, name → text. Raises SettingsError, which shows no text."""
    try:
        document = json.loads(file.read_bytes())
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError:
        raise SettingsError(f"{file} is not a JSON document") from None
    if not isinstance(document, dict) or not all(isinstance(value, str) for value in document.values()):
        raise SettingsError(f"{file} must hold a JSON object whose values are all strings")
    return document
