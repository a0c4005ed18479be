"""The shared key signature of storage requests (Azure Storage REST, "Authorize with Shared Key")."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from urllib.parse import quote, unquote

_HEADERS = (
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
)


def fits(
    authorization: str, key: str, account: str, method: str, target: str, headers: Mapping[str, str]
) -> bool:
    """Whether the header is the signature of a request; `target` is its path and query as they came."""
    path, mark, query = target.partition("?")
    # Clients sign the path before their HTTP library takes needless escapes out of it: both are right.
    spellings = {path, quote(unquote(path), safe="/~")}
    signed = (signature(key, account, method, spelling + mark + query, headers) for spelling in spellings)
    return any(matches(authorization, f"SharedKey {account}:{right}") for right in signed)


def matches(signature: str, right: str) -> bool:
    """Whether these are the same signature, compared in constant time; `signature` may be any text."""
    return hmac.compare_digest(signature.encode(errors="surrogatepass"), right.encode())


def signature(key: str, account: str, method: str, target: str, headers: Mapping[str, str]) -> str:
    """The signature of a request; `headers` by lowercase name."""
    lines = [method, *(headers.get(name, "") for name in _HEADERS)]
    if lines[3] == "0":
        lines[3] = ""
    own = sorted((name, value) for name, value in headers.items() if name.startswith("x-ms-"))
    lines += [f"{name}:{value.strip()}" for name, value in own]
    path, _, query = target.partition("?")
    lines.append(f"/{account}{path}")
    parameters: dict[str, list[str]] = {}
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        parameters.setdefault(unquote(name).lower(), []).append(unquote(value))
    lines += [f"{name}:{','.join(sorted(values))}" for name, values in sorted(parameters.items())]
    digest = hmac.new(base64.b64decode(key), "\n".join(lines).encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()
