"""Characters that look like others, or are invisible: their names, and the characters that they imitate."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

#: Letters of other alphabets, and below each the Latin one that it resembles.
_STRANGE = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u043a"
    "\u0501\u04bb\u04cf\u0410\u0412\u0415\u041a\u041c\u041d\u041e"
    "\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405\u03bf\u03bd"
    "\u03b1\u03b9\u03ba\u03c1\u03c5\u03c7\u03f2\u03f3"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f"
    "\u03a1\u03a4\u03a5\u03a7\u0131\u0251\u0261\u0585\u057d\u0570"
)
_LATIN = "aeopcyxijskdhlABEKMHOPCTYXIJSovaikpuxcjABEZHIKMNOPTYXiagouh"
WIDE = {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
#: A letter of another alphabet → the Latin one that it resembles.
LETTERS: dict[str, str] = dict(zip(_STRANGE, _LATIN, strict=True)) | WIDE
#: Characters that imitate a bracket, a colon, a comma, or a special character of a shell.
MARKS: dict[str, str] = {wide: mark for wide, mark in WIDE.items() if not mark.isalnum()} | {
    "\u037e": ";",
    **dict.fromkeys("\u3001\u060c\ufe50", ","),
    **dict.fromkeys("\ufe55\ufe13\u2236\ua789", ":"),
    **dict.fromkeys("\u2044\u2215\u29f8", "/"),
}
#: Characters that imitate a space: spaces, separators, and letters without ink.
SPACES = frozenset(
    "\u00a0\u1680\u2007\u2028\u2029\u202f\u205f\u2800\u3000\u3164\u115f\u1160\uffa0"
    + "".join(map(chr, range(0x2000, 0x200B)))
)
#: Invisible characters. Some have a meaning between letters of other alphabets, and in emoji.
INVISIBLE = frozenset("\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff")
#: The quotes that a word processor inserts; for dashes, the original number is unknown.
QUOTES = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}
DASHES = frozenset("\u2010\u2011\u2012\u2013\u2014\u2212")
#: These are forbidden in every text.
_REFUSED = frozenset("\u200b\u2060\ufeff")
_WORD = re.compile(r"\w+")


def character_name(character: str) -> str:
    """`U+043E (CYRILLIC SMALL LETTER O)`."""
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}" + (f" ({name})" if name else "")


def latin(character: str) -> str:
    """The ASCII letter or digit that a character resembles; "" if there is none."""
    if character.isascii():
        return ""
    same = unicodedata.normalize("NFKC", character)  # wide, bold, in a circle
    return LETTERS.get(character) or (same if same.isascii() and same.isalnum() and len(same) == 1 else "")


def plain(text: str) -> str:
    """The text with the intended letters, and without invisible characters."""
    visible = (one for one in text if one not in SPACES and unicodedata.category(one) != "Cf")
    return "".join(latin(one) or one for one in visible).strip()


def mixed(text: str, *, ascii_only: bool = False) -> str | None:
    """The first letter that only looks Latin, in a Latin word whose strange letters all do.

    `ascii_only`: only ASCII is allowed, so no Latin letter is needed beside it.
    """
    if text.isascii():
        return None
    for word in _WORD.findall(text):
        strange = [one for one in word if not one.isascii()]
        beside = ascii_only or any(one.isascii() and one.isalpha() for one in word)
        if strange and beside and all(map(latin, strange)):
            return str(strange[0])
    return None


def hidden_character(text: str) -> str | None:
    """The first invisible character beside ASCII, where it has no meaning."""
    if text.isascii():
        return None
    unseen = (one for one in dict.fromkeys(text) if one in INVISIBLE - _REFUSED)
    return next((one for one in unseen if any(near.isascii() for near in _neighbours(text, one))), None)


def beside_ascii(text: str, one: str) -> bool:
    """Whether the character is anywhere beside ASCII, and not only inside a text of another alphabet."""
    return any(near and not near.isspace() and near.isascii() for near in _neighbours(text, one))


def _neighbours(text: str, one: str) -> Iterator[str]:
    """The characters directly around each of these."""
    for match in re.finditer(re.escape(one), text):
        yield text[max(0, match.start() - 1) : match.start()] + text[match.end() : match.end() + 1]
