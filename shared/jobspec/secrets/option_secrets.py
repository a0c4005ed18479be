"""Passwords in short options of known commands: `mysql -pX`, `docker login -p X`, `curl -u me:X`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.jobspec.secrets.cookie_secrets import WORD, cookie_ranges
from shared.jobspec.secrets.named_secrets import value_at

#: Command → its option whose value is a password, and those whose value is a user with a password.
_COMMANDS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb"), ("-p", "")),
    **dict.fromkeys(("sshpass", "mongo", "mongosh", "mongodump", "login", "7z", "7za"), ("-p", "")),
    **dict.fromkeys(("twine", "poetry", "cqlsh", "unrar", "rar"), ("-p", "")),
    **dict.fromkeys(("useradd", "usermod", "snowsql"), ("-p", "")),
    **dict.fromkeys(("plink", "pscp", "psftp"), ("-pw", "")),
    **dict.fromkeys(("sqlcmd", "bcp", "zip", "unzip", "ipmitool"), ("-P", "")),
    **dict.fromkeys(("mosquitto_pub", "mosquitto_sub"), ("-P", "")),
    **dict.fromkeys(("ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami"), ("-w", "")),
    "ssh-keygen": ("-N -P", ""),
    "redis-cli": ("-a", ""),
    "openssl": ("-k -K", ""),
    "curl": ("", "-u-U"),
    "http": ("", "-a"),
    "https": ("", "-a"),
    "lftp": ("", "-u"),
    "smbclient": ("", "-U"),
    "etcdctl": ("", "-u"),
}
_LONG = {"--user": "-u", "--proxy-user": "-U", "--auth": "-a"}
#: Options whose value is always a word of its own: `-keyform` is another option.
_APART = frozenset({"-k", "-K"})
_COOKIES = frozenset({"-b", "--cookie"})
_COMMAND = re.compile(rf"(?:{'|'.join(map(re.escape, _COMMANDS))})(?=[ \t])")
#: In the order of the text: what ends a command, a command, an option.
_PIECE = re.compile(
    rf"(?P<end>[;&|\n])|(?<![\w.-])(?P<command>{_COMMAND.pattern})"
    r"|(?<![^\s\"'(])(?P<option>--user|--proxy-user|--auth|--cookie|-pw(?=[ \t])"
    r"|-[pPawkKbN]|-[sSfgikLNv]{0,6}[uUb])"
    r"(?P<joint>=|[ \t]{0,8})",
    re.ASCII,
)
#: A user, and the separator before the password.
_USER = re.compile(r"\\{0,3}[\"']?[^\s\"':%,;&|<>]{0,128}[:%,](?![$\s\"'])")
_REST = re.compile(r"[^\s\"';&|<>]+")
#: In quotes it may hold anything except the quotes.
_OPENSSL = re.compile(
    r"(?<=')pass:(?P<single>[^\s'][^'\n]*)|(?<=\")pass:(?P<double>[^\s\"$][^\"\n]*)"
    r"|(?<![\w'\"-])pass:(?P<key>[^\s\"';&|<>$]+)"
)


def option_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of these passwords, unordered."""
    if _may_name_command(text) and _COMMAND.search(text):
        yield from _of_commands(text)
    if "pass:" in text:
        yield from (match.span(match.lastgroup or 0) for match in _OPENSSL.finditer(text))


def _may_name_command(text: str) -> bool:
    """Whether a search by the pattern, which takes longer, may find one: a blank follows every command."""
    return (" " in text or "\t" in text) and any(command in text for command in _COMMANDS)


def _of_commands(text: str) -> Iterator[tuple[int, int]]:
    command = password = user = ""
    position = 0
    while match := _PIECE.search(text, position):
        position = match.end()
        if match["end"]:
            command = password = user = ""
        elif match["command"]:
            command = match["command"]
            password, user = _COMMANDS[command]
        elif match["option"] in _APART and not match["joint"]:
            continue
        elif command == "curl" and (match["option"] in _COOKIES or match["option"][-1] == "b"):
            if word := WORD.match(text, position):
                yield from cookie_ranges(text, *word.span())
        elif match["option"] in password.split():
            if value := value_at(text, position):
                position = value[1]
                yield value
        elif user and _LONG.get(match["option"], f"-{match['option'][-1]}") in user:
            named = _USER.match(text, position)
            if named and (rest := _REST.match(text, named.end())):
                position = rest.end()
                yield rest.span()
