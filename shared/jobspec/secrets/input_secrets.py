"""Secrets that a command reads: cookies, here-strings, and what is piped into its standard input. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.jobspec.secrets.named_secrets import value_at

_COOKIES = re.compile(
    r"(?<![\w-])(?:set-)?cookie\\{0,3}[\"']?\]?[ \t]{0,3}[:,=][ \t]{0,3}"
    r"\\{0,3}[\"']?(?P<pairs>[^\"'\n\\]{1,4096})",
    re.ASCII | re.IGNORECASE,
)
_COOKIE_OPTION = re.compile(r"(?<![\w-])--cookies?(?:=|[ \t]{1,8})")
#: A word of a shell, of which only the first quoted piece counts.
WORD = re.compile(r"\\{0,3}(?:'[^'\n]*|\"[^\"\n]*|[^\s\"'&|<>]+)")
_PAIR = re.compile(r"[^\s=;\"'&|<>]{1,128}=(?P<value>[^\s;\"'&|<>$][^\s;\"'&|<>]*)")
#: Words by which a command reads a secret from its standard input.
_READS = re.compile(
    r"-stdin(?![\w-])|(?<![\w:.-])(?:--with-token|--passphrase-fd|stdin|kinit|chpasswd|cryptsetup|sshpass|su)(?![\w.-])"
    r"|(?<![\w.-])(?:pass[ \t]{1,8}insert|op[ \t]{1,8}signin)(?![\w-])"
    r"|(?<![\w-])sudo[ \t]{1,8}(?:-[A-Za-z]{1,8}[ \t]{1,8}){0,3}-[A-Za-z]{0,8}S(?![\w-])"
    r"|(?<![\w-])read[ \t]{1,8}(?:-[a-z]{1,8}[ \t]{1,8}){0,3}"
    r"\w{0,64}(?:TOKEN|KEY|SECRET|PASS|PASSWORD|PWD)(?!\w)",
    re.ASCII,
)
_HERE_STRING = re.compile(r"<<<[ \t]{0,8}")
_HERE_DOCUMENT = re.compile(r"(?<!<)<<(?!<)-?[ \t]{0,8}\\?[\"']?(?P<end>\w{1,64})", re.ASCII)
#: A command that prints its arguments, up to the first that is neither an option nor a format.
_WRITES = re.compile(
    r"(?<![\w.-])(?:echo|printf)[ \t]{1,8}(?:-[neE]{1,3}[ \t]{1,8}){0,3}"
    r"(?:\\{0,3}[\"']?%[^\s\"']{1,8}[\"']?[ \t]{1,8})?",
    re.ASCII,
)
#: A file of that name, which a command writes.
_REDIRECTION = re.compile(
    r">{1,2}[ \t]{0,8}[\"']?[^\s;&|\"'<>]{0,256}"
    r"(?<![a-z])(?:token|secret|password|credentials|pgpass|api_?key)"
    r"[\"']?(?=[\s;&|)\"']|$)",
    re.ASCII,
)
_ENDS = ";&|\n"
#: How many characters of a command are searched.
_FAR = 4096


def input_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of these secrets, unordered."""
    if "ookie" in text or "OOKIE" in text:
        for match in _COOKIES.finditer(text):
            yield from cookie_ranges(text, *match.span("pairs"))
        for match in _COOKIE_OPTION.finditer(text):
            if word := WORD.match(text, match.end()):
                yield from cookie_ranges(text, *word.span())
    if ">" in text:
        yield from _written(text)
    if "<<" in text or "|" in text:
        last = below = -1
        for match in _READS.finditer(text):
            begins = _begins(text, match.start())
            if begins != last:
                yield from _here_strings(text, begins, match.start())
                yield from _piped(text, begins)
                line = text.find("\n", match.start(), match.start() + _FAR)
                if line > below:
                    lines = _here_document(text, match.start(), line)
                    yield from lines
                    below = lines[-1][1] if lines else line  # no line is searched twice
            last = begins


def cookie_ranges(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Ranges of the values of cookies."""
    return (match.span("value") for match in _PAIR.finditer(text, start, end))


def _written(text: str) -> Iterator[tuple[int, int]]:
    """The texts that are printed into a file for a secret, by its name: `echo x > ~/.hf/token`."""
    for match in _REDIRECTION.finditer(text):
        written = _WRITES.search(text, _begins(text, match.start()), match.start())
        if written and (value := value_at(text, written.end())) and value[1] <= match.start():
            yield value


def _here_strings(text: str, begins: int, position: int) -> Iterator[tuple[int, int]]:
    """The values of here-strings in the command that begins there and contains `position`."""
    ends = [end for mark in _ENDS if (end := text.find(mark, position, position + _FAR)) >= 0]
    for match in _HERE_STRING.finditer(text, begins, min(ends, default=position + _FAR)):
        if value := value_at(text, match.end()):
            yield value


def _here_document(text: str, position: int, line: int) -> list[tuple[int, int]]:
    """The lines of a here-document below a position, whose line ends at `line`; without variables."""
    first = max(text.rfind("\n", max(0, position - _FAR), position) + 1, position - _FAR, 0)
    match = _HERE_DOCUMENT.search(text, first, line)
    ranges: list[tuple[int, int]] = []
    start = line + 1
    while match is not None and start < min(line + _FAR, len(text)):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        content = text[start:end].strip()
        if content == match["end"]:
            break
        if content and not content.startswith("$"):
            ranges.append((start, end))
        start = end + 1
    return ranges


def _piped(text: str, begins: int) -> Iterator[tuple[int, int]]:
    """The text that is piped into the command that begins there."""
    if text[begins - 1 : begins] != "|" or text[begins - 2 : begins - 1] == "|":
        return
    written = _WRITES.search(text, _begins(text, begins - 1), begins)
    if written and (value := value_at(text, written.end())) and value[1] <= begins:
        yield value


def _begins(text: str, position: int) -> int:
    """Where the command around a position begins."""
    return max(text.rfind(mark, max(0, position - _FAR), position) for mark in _ENDS) + 1
