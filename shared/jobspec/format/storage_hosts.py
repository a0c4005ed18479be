"""The owner of the host in a file share's address: a key goes to its own account's host only. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

#: What follows `ACCOUNT.file.` in each of the Azure clouds; the first is the usual one.
CLOUDS = ("core.windows.net", "core.chinacloudapi.cn", "core.usgovcloudapi.net", "core.cloudapi.de")

_LEVEL = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_LABEL = r"[A-Za-z0-9-]{1,63}"
#: Without user, port, query and escapes, so that every parser finds the same host.
_SHARE = re.compile(
    rf"https://(?P<account>{_LABEL})\.(?P<rest>{_LABEL}(?:\.{_LABEL}){{1,9}})"
    rf"/(?=[a-z0-9-]{{3,63}}(?:/|\Z))(?P<share>[a-z0-9](?:-?[a-z0-9])*)(?:/{_LEVEL})*/?",
    re.ASCII,
)
#: The same, for a share of any name.
_ANY_SHARE = re.compile(
    rf"https://{_LABEL}\.{_LABEL}(?:\.{_LABEL}){{1,9}}/[A-Za-z0-9_-]+(?:/{_LEVEL})*/?", re.ASCII
)
_LONGEST = 1024


class ShareHost(NamedTuple):
    """The host of a share's address, in lowercase letters: its first part, and the rest; and the share."""

    account: str
    rest: str
    share: str = ""

    def belongs_to(self, account: str, clouds: Collection[str] = CLOUDS) -> bool:
        """Whether it is the host of the account's shares in one of the clouds."""
        return self.account == account and self.rest in {f"file.{suffix}" for suffix in clouds}


def share_host(url: str) -> ShareHost | None:
    """The host of https://ACCOUNT.file.SUFFIX/SHARE/…; None for another text."""
    match = _SHARE.fullmatch(url) if len(url) <= _LONGEST else None
    return ShareHost(match["account"].lower(), match["rest"].lower(), match["share"]) if match else None


def is_bad_share_name(url: str) -> bool:
    """Whether only the name of the share in an address is invalid."""
    return len(url) <= _LONGEST and share_host(url) is None and bool(_ANY_SHARE.fullmatch(url))
