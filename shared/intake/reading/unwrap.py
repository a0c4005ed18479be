"""unwrap: the text of a queue message that may be base64. Pure."""

from __future__ import annotations

import base64
import binascii

_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
#: What a text may have beside visible characters.
_SPACE = frozenset("\t\r\n")
#: How a document begins, and no base64.
_JSON = (b"{", b"[")
#: Shorter texts are words rather than a document.
_SHORTEST = 16


def unwrap(body: bytes) -> bytes:
    """The text of a message that may be base64.

    The decoder of the Functions host (.NET's Convert.FromBase64String) skips spaces, tabs and line breaks, so
    this does, too. It also takes the alphabet for addresses, and a text without its padding, if they decode
    to a text. Any other text is returned unchanged, and is reported as it is.
    """
    text = body.strip()
    if not text or text[:1] in _JSON:
        return body
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return _loosely_decoded(text) or body


def _loosely_decoded(text: bytes) -> bytes | None:
    packed = b"".join(text.split()).translate(bytes.maketrans(b"-_", b"+/")).rstrip(b"=")
    if len(packed) < _SHORTEST:
        return None
    try:
        decoded = base64.b64decode(packed + b"=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if decoded.startswith(_MARKS) or _is_text(decoded) else None


def _is_text(data: bytes) -> bool:
    """Whether bytes are a text: what only looks like base64, a few words, hardly ever decodes to one."""
    try:
        return all(one.isprintable() or one in _SPACE for one in data.decode())
    except UnicodeDecodeError:
        return False
