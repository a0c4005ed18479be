"""Secrets that a command gets from its standard input: here-strings, and what is piped into it. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from shared.jobspec.secrets.cookie_secrets import WORD
from shared.jobspec.secrets.named_secrets import PRINTS, value_at

_GAP = r"[ \t]{1,8}"
#: Programs, some with their first words, for which what they read there is a secret. `login` is below.
_READERS = (
    *("kinit", "chpasswd", "(?<!/etc/)passwd", "smbpasswd", "cryptsetup", "gocryptfs", "sshpass", "su"),
    *("bw", "borg", "restic", "ansible-vault", "ssh-add", "clearml-init", "op signin", "pass insert"),
    *("aws configure", "databricks configure", "doctl auth init", "gcloud secrets", "gh secret set"),
    *("docker secret create", "podman secret create", "modal token", "ngc config set", "snyk auth"),
    *("rclone config", "vault kv put", "vault write"),
)
#: Words by which a command reads a secret from its standard input.
_READS = re.compile(
    r"-stdin(?![\w-])|(?<![\w:.-])(?:--with-token|--passphrase-fd|--askpass|stdin)(?![\w.-])"
    rf"|(?<![\w:.-])(?:{'|'.join(_READERS).replace(' ', _GAP)})(?![\w.-])"
    rf"|(?<![\w-])sudo{_GAP}(?:-[A-Za-z]{{1,8}}{_GAP}){{0,3}}-[A-Za-z]{{0,8}}S(?![\w-])"
    rf"|(?<![\w-])read{_GAP}(?:-[a-z]{{1,8}}{_GAP}){{0,3}}"
    r"\w{0,64}(?:TOKEN|KEY|SECRET|PASS|PASSWORD|PWD)(?!\w)"
    r"|(?<=[ \t])(?P<login>login)(?![\w.:=@/-])",
    re.ASCII,
)
#: Commands to which `login` is a text to look for, or the name of a machine.
_NO_LOGIN = re.compile(r"(?<![\w.-])(?:[efz]?grep|rg|sed|awk|jq|ssh|scp|sftp|rsync|srun)(?![\w.-])", re.ASCII)
_HERE_STRING = re.compile(r"<<<[ \t]{0,8}")
_HERE_DOCUMENT = re.compile(r"(?<!<)<<(?!<)-?[ \t]{0,8}\\?[\"']?(?P<end>\w{1,64})", re.ASCII)
#: `< <(echo x)`
_PROCESS = re.compile(rf"<[ \t]{{0,8}}<\([ \t]{{0,8}}(?={PRINTS})", re.ASCII)
#: A command that prints its arguments, up to the first that is neither an option nor a format.
_WRITES = re.compile(rf"(?<![\w.-]){PRINTS}", re.ASCII)
#: What follows an argument before the next one.
_NEXT = re.compile(r"\\{0,3}[\"']?[ \t]{1,8}")
#: A file of that name, which a command writes.
_WRITTEN = re.compile(
    rf"(?:>{{1,2}}[ \t]{{0,8}}|(?<![\w.-])tee{_GAP}(?:-a{_GAP})?)[\"']?[^\s;&|\"'<>]{{0,256}}"
    r"(?<![a-z])(?:token|secret|password|credentials|pgpass|api_?key)"
    r"[\"']?(?=[\s;&|<)\"']|$)",
    re.ASCII,
)
#: A command, or a piece of a very long one: each is looked at once.
_COMMAND = re.compile(r"[^;&|\n]{1,4096}")
#: How far a line, and a here-document below it, are searched.
_FAR = 4096
#: How many commands of a pipe, and arguments of a command, are looked at.
_STAGES, _ARGUMENTS = 4, 8

_Span = tuple[int, int]


def input_ranges(text: str) -> Iterator[_Span]:
    """Ranges of these secrets, unordered."""
    if not any(mark in text for mark in ("<<", "|", ">", "<(", "tee")):
        return
    reads, writes = list(_READS.finditer(text)), [match.start() for match in _WRITTEN.finditer(text)]
    if not reads and not writes:
        return
    commands = [match.span() for match in _COMMAND.finditer(text)]
    starts = [start for start, _ in commands]
    written = {bisect_right(starts, position) - 1 for position in writes}
    for number in written:
        yield from _printed(text, *commands[number])
    below = -1
    for number in sorted(written | _readers(text, reads, commands, starts)):
        yield from _here_strings(text, *commands[number])
        yield from _piped(text, commands, number)
        line = text.find("\n", commands[number][1], commands[number][1] + _FAR)
        if line > below:
            lines = _here_document(text, commands[number][0], line)
            yield from lines
            below = lines[-1][1] if lines else line  # no line is searched twice


def _readers(text: str, reads: list[re.Match[str]], commands: list[_Span], starts: list[int]) -> set[int]:
    """The numbers of the commands that read a secret."""
    numbers = set()
    last, no_login = -1, False
    for match in reads:
        number = bisect_right(starts, match.start()) - 1
        if match["login"] and number != last:
            last, no_login = number, _NO_LOGIN.search(text, *commands[number]) is not None
        if not (match["login"] and no_login):
            numbers.add(number)
    return numbers


def _here_strings(text: str, start: int, end: int) -> Iterator[_Span]:
    """The values of here-strings in a command."""
    for match in _HERE_STRING.finditer(text, start, end):
        if value := value_at(text, match.end()):
            yield value
    for match in _PROCESS.finditer(text, start, end):
        yield from _printed(text, match.end(), end)


def _here_document(text: str, position: int, line: int) -> list[_Span]:
    """The lines of a here-document below a position, whose line ends at `line`; without variables."""
    first = max(text.rfind("\n", max(0, position - _FAR), position) + 1, position - _FAR, 0)
    match = _HERE_DOCUMENT.search(text, first, line)
    ranges: list[_Span] = []
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


def _piped(text: str, commands: list[_Span], number: int) -> Iterator[_Span]:
    """The text that is piped into a command, maybe through others."""
    for before in range(number - 1, max(number - _STAGES, 0) - 1, -1):
        if text[commands[before][1] : commands[before + 1][0]] != "|":
            return
        yield from _printed(text, *commands[before])
        yield from _here_strings(text, *commands[before])


def _printed(text: str, begins: int, end: int) -> Iterator[_Span]:
    """The arguments of a command between two positions that prints them."""
    written = _WRITES.search(text, begins, end)
    position = written.end() if written else end
    for _ in range(_ARGUMENTS):
        value = value_at(text, position)
        word = WORD.match(text, position)
        stop = value[1] if value else word.end() if word else end + 1
        if stop > end:
            return
        if value:
            yield value
        if not (more := _NEXT.match(text, stop)):
            return
        position = more.end()
