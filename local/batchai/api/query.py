"""The query of a request to the contract: each parameter once, one of the operation, and properly encoded.

Where the service would take another value than the one that a client meant, this refuses the request: a
parameter that is cut off at `&` or `#` must not go unnoticed.
"""

import re
from collections.abc import Collection
from urllib.parse import unquote_to_bytes

from local.batchai.state.errors import invalid

#: RFC 3986, section 3.4, and the brackets, which clients leave as they are.
_ENCODED = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?\[\]]|%[0-9A-Fa-f]{2})*")


def parameters(raw: str, allowed: Collection[str]) -> dict[str, str]:
    """The decoded values by name, of `allowed` parameters. Raises ArmError with the name of the parameter."""
    values: dict[str, str] = {}
    for pair in filter(None, raw.split("&")):
        name, _, value = (_decoded(part, pair) for part in pair.partition("="))
        if name not in allowed:
            raise invalid(f"This operation does not take a parameter {name!r}.", name, "InvalidParameter")
        if name in values:
            raise invalid(f"The parameter {name} is given twice.", name, "InvalidParameter")
        values[name] = value
    return values


def _decoded(text: str, pair: str) -> str:
    name = pair.partition("=")[0]
    if not _ENCODED.fullmatch(text):
        raise invalid("The query is not percent-encoded.", name, "InvalidParameter")
    try:
        return unquote_to_bytes(text.replace("+", " ")).decode()
    except UnicodeDecodeError:
        raise invalid("The query is not in UTF-8.", name, "InvalidParameter") from None
