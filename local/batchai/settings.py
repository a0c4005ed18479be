"""Settings of the emulator, from its command line."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from local.batchai.notices import NoticeSettings
from local.batchai.scheduler import Pace


@dataclass(frozen=True, kw_only=True)
class Account:
    """The storage account that mounts may use, from a connection string."""

    name: str
    key: str = field(repr=False)
    blob_endpoint: str


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that can be set. `data` holds state, nodes, shares and mirrors of blob containers."""

    data: Path
    account: Account
    node_path: tuple[Path, ...]
    subscription: str | None = None
    location: str = "eastus"
    containers: Literal["auto", "host", "require"] = "auto"
    pace: Pace
    #: None: nobody is told of ends.
    notice: NoticeSettings | None = None
    #: What Key Vault references refer to: a JSON object of addresses of secrets and their values.
    secrets_file: Path | None = None
    #: What mount commands bring: a JSON object of commands and directories of this machine. None: refused.
    unmanaged_mounts: Path | None = None
    #: NVIDIA GPUs of this machine.
    gpus: int = 0

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

    def server(self, instance: str) -> Path:
        """Where the files of a file server are."""
        return self.servers / instance


class SettingsError(ValueError):
    """A setting that cannot be; the message says how to mend it and never shows a value."""


def account(connection_string: str) -> Account:
    """The account of a connection string. Raises SettingsError."""
    pairs = (part.split("=", 1) for part in connection_string.split(";") if "=" in part)
    values = {name.strip().lower(): value.strip() for name, value in pairs}
    try:
        name, key = values["accountname"], values["accountkey"]
    except KeyError as error:
        raise SettingsError(
            f"the storage connection string has no {error.args[0]}; it must name AccountName and AccountKey"
        ) from None
    suffix = values.get("endpointsuffix", "core.windows.net")
    endpoint = values.get("blobendpoint") or f"https://{name}.blob.{suffix}"
    return Account(name=name, key=key, blob_endpoint=endpoint.rstrip("/"))


def table(file: Path) -> dict[str, str]:
    """The texts by name of a JSON file. Raises SettingsError, which shows none of them."""
    try:
        found = json.loads(file.read_bytes())
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError:
        raise SettingsError(f"{file} is no JSON document") from None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise SettingsError(f"{file} must hold a JSON object whose values are all texts")
    return found
