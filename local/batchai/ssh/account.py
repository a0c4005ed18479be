"""Who may log in to the nodes of a cluster: its administrator, as `userAccountSettings` says."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import asyncssh

if TYPE_CHECKING:
    from local.batchai.state.models import Cluster


class Account:
    """The administrator of a cluster's nodes."""

    def __init__(self, cluster: Cluster | None) -> None:
        settings: dict[str, Any] = cluster.document.get("userAccountSettings") or {} if cluster else {}
        self._name = str(settings.get("adminUserName") or "")
        self._password = str(settings.get("adminUserPassword") or "")
        self._keys = [*_keys(str(settings.get("adminUserSshPublicKey") or ""))]

    @property
    def has_password(self) -> bool:
        """Whether a password lets it in."""
        return bool(self._password)

    @property
    def has_key(self) -> bool:
        """Whether a key lets it in."""
        return bool(self._keys)

    def takes_key(self, name: str, key: asyncssh.SSHKey) -> bool:
        """Whether this key is the administrator's."""
        return self._is_name(name) and key.public_data in self._keys

    def takes_password(self, name: str, password: str) -> bool:
        """Whether this password is the administrator's."""
        same = hmac.compare_digest(password.encode(), self._password.encode())
        return self._is_name(name) and self.has_password and same

    def _is_name(self, name: str) -> bool:
        return bool(name) and name == self._name


def _keys(text: str) -> Iterator[bytes]:
    """The keys of a text, one on each line; what is not a key lets no one in."""
    for line in text.splitlines():
        try:
            yield asyncssh.import_public_key(line).public_data
        except asyncssh.KeyImportError:
            continue
