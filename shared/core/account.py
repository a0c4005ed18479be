"""The storage account of a deployment: its addresses, and the name and key by which nodes mount from it.

Also the valid names of its containers and tables.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

_CONTAINER = re.compile(r"[a-z0-9](?:-?[a-z0-9])*")
#: Containers of the storage itself.
_SPECIAL = ("$root", "$web")
_TABLE = re.compile(r"[A-Za-z][A-Za-z0-9]{2,62}")
CONTAINER_RULE = "3 to 63 lowercase letters, digits and single dashes"
TABLE_RULE = "3 to 63 letters and digits, the first of them a letter"


class StorageAddresses(NamedTuple):
    """A connection string, or the addresses of the three services; "" for what is not given."""

    string: str
    blob: str
    queue: str
    table: str


class MountAccount(NamedTuple):
    """The account that jobs mount from; its key may be empty."""

    name: str
    key: str


def is_container(name: str) -> bool:
    """Whether a container or a share of files may have that name."""
    return name in _SPECIAL or (3 <= len(name) <= 63 and _CONTAINER.fullmatch(name) is not None)


def is_table(name: str) -> bool:
    """Whether a table may have that name."""
    return _TABLE.fullmatch(name) is not None


#: Containers in which the Functions host keeps its own files, its keys and the app itself.
_OF_THE_HOST = ("azure-webjobs-", "app-package")


def is_apps_own(container: str, own: Collection[str]) -> bool:
    """Whether only the app or its host may write there; `own` are the app's own containers."""
    return container in own or container.startswith(_OF_THE_HOST)
