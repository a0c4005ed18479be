"""Signatures of Azure Storage for one container or one blob. Pure.

learn.microsoft.com/rest/api/storageservices/create-service-sas and create-user-delegation-sas, in a version
that Azurite supports as well; the SDK signs for the latest one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import quote, urlencode

VERSION = "2020-12-06"
#: What a mounted container needs: read, add, create, write, delete, list; and to read it alone.
_WRITING, _READING = "racwdl", "rl"


def signed(query: Mapping[str, str], resource: str, key: str, who: Sequence[str] = ("",)) -> str:
    """The query with its signature, for `/blob/ACCOUNT/CONTAINER` or a blob below it.

    `who`: the fields of a user delegation key. Raises ValueError for a key that is not in base64.
    """
    # The fields in the order that the service prescribes; an absent one is an empty line.
    first = [query["sp"], "", query["se"], resource]
    shown = ["", "", "", query.get("rscd", ""), "", "", query.get("rsct", "")]
    text = "\n".join((*first, *who, "", query["spr"], query["sv"], query["sr"], *shown))
    digest = hmac.new(base64.b64decode(key, validate=True), text.encode(), hashlib.sha256).digest()
    return urlencode({**query, "sig": base64.b64encode(digest).decode()}, quote_via=quote)


def for_container(
    account: str, container: str, key: str, expires: datetime, *, https: bool, read_only: bool
) -> str:
    """The query that opens one container of an account until then, and nothing else of the account.

    Raises ValueError for a key that is not in base64.
    """
    query = {
        "sp": _READING if read_only else _WRITING,
        "se": f"{expires:%Y-%m-%dT%H:%M:%SZ}",
        "spr": "https" if https else "https,http",
        "sv": VERSION,
        "sr": "c",
    }
    return signed(query, f"/blob/{account}/{container}", key)
