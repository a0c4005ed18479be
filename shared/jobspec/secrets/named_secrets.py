"""Secrets behind a name: `HF_TOKEN=x`, `--api-key x`, `"password": "x"`, `Authorization: Bearer x`. Pure.

A reference to a variable (`--token $HF_TOKEN`) is not a secret. Matches do not cross the end of a line, and
each character is read a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from shared.jobspec.secrets.prose import reads_on

#: The words required before these: only some keys are secret, and strings in `connection string`.
_KEYS = (
    *("access", "account", "admin", "api", "app", "application", "auth", "bot", "client", "consumer"),
    *("database", "db", "deploy", "encryption", "function", "functions", "instrumentation", "license"),
    *("kaggle", "master", "private", "project", "secret", "service", "signing", "storage", "subscription"),
    *("anthropic", "aws", "azure", "cohere", "comet", "gcp", "github", "gitlab", "google", "groq", "hf"),
    *("huggingface", "mistral", "minio", "neptune", "ngc", "nvidia", "openai", "s3", "slack", "stripe"),
)
_ENDINGS = {"key": _KEYS, "string": ("connection",)}
#: After the name: an optional number, then `=` or `:` with its quotes, or a blank; or a comma, if name and
#: value are two texts: `setdefault("HF_TOKEN", "x")`.
_ENDS = (
    r"(?:[_-]?[0-9]{1,3})?"
    r"(?:(?P<pair>\\{0,3}[\"'][ \t]{0,3},[ \t]{0,3}(?=\\{0,3}[\"']))|"
    r"(?:\\{0,3}[\"']?\]?(?P<equals>[ \t]{0,3}(?::=|={1,3}|:(?=[ \t\"'\\])|=>)[ \t]{0,3})|[ \t]{1,8}))"
)
#: A piece of a name → the pattern of the rest of the name and what follows it.
_NAMES: dict[str, str] = {
    **{word: word + _ENDS for word in ("pwd", "token", "jwt", "sas", "pat", "key", "string")},
    **{word: word + _ENDS for word in ("pass", "password", "passwd", "passphrase", "passcode", "pw")},
    "secret": r"secret(?:[_-]?value)?" + _ENDS,
    "credential": r"credentials?" + _ENDS,
    "cred": r"creds?" + _ENDS,
    "auth": "auth" + _ENDS,
    **{word: rf"{word}(?P<equals>=)" for word in ("sig", "code")},
    "authorization": (
        # Any scheme, but only if blanks and quotes show that the value has more than one word.
        r"authorization\\{0,3}[\"']?(?P<equals>[ \t]{0,3}[:=])"
        r"(?:(?:[ \t]{1,3}\\{0,3}[\"']?|\\{0,3}[\"'])(?:[a-z][a-z0-9-]{1,20}[ \t]{1,8}(?![\s\"'&|;<>]))?"
        r"|(?:basic|token|digest)[ \t]{1,8})?"
        r"|authorization[ \t]{1,8}(?:\\{0,3}[\"']?(?:basic|bearer|digest|token)[ \t]{1,8})?"
    ),
    "bearer": r"bearer(?P<equals>[ \t]{1,8})(?=[^\s]{8})",
}
#: Every match of these patterns has one of these characters. Most members' names and many values have none.
_SEPARATOR = re.compile(r"[=:\"' \t]")
#: These count as whole words only, not as the end of a longer one.
_ALONE = frozenset({"pass", "pw", "cred", "sas", "pat", "sig", "code", "authorization", "bearer"})
#: The words that people join with `pass`.
_PASSES = ("db", "key", "ssh", "store", "user")
_QUERIED = ("sig", "code")
_QUOTED = re.compile(
    r"(?:\\{0,3}|\$|[rbfu]{1,2})(?:\"(?!\$[A-Za-z_{(])(?P<double>[^\"\n]+)|'(?P<single>[^'\n]+))",
    re.IGNORECASE,
)
#: The default of an unset variable: `${HF_TOKEN:-x}`.
_DEFAULT = re.compile(r"\"?\$\{\w+:?[-=+](?P<value>[^$}\s][^}\n]*)")
#: The type of a parameter in Python, before its default: `token: str = "x"`.
_TYPE = re.compile(
    r"(?<=: )[A-Za-z_][\w.]{0,64}(?:\[[\w., |]{0,64}\])?(?: \| [\w.]{1,64}){0,3} = (?=[\"'])", re.ASCII
)
#: A command that prints its arguments, up to the first that is neither an option nor a format.
PRINTS = (
    r"(?:echo|printf|yes)[ \t]{1,8}(?:-[neE]{1,3}[ \t]{1,8}){0,3}"
    r"(?:\\{0,3}[\"']?%[^\s\"']{1,8}[\"']?[ \t]{1,8})?"
)
#: `$(echo x)`
_SUBSTITUTED = re.compile(rf"\"?(?:\$\(|`)[ \t]{{0,8}}{PRINTS}", re.ASCII)
#: The first character of a value, not of a variable, a command or the shell's own syntax.
_BARE = re.compile(r"[^\s\"'`$;&|<>(){}\[\],]|(?:\"\"|'')+(?=[^\s\"'`;&|<>(){}\[\],])")
#: Values that begin like a list or an option but are neither, unlike `[PAD]` and `-v`.
_STRANGE = re.compile(
    r"\[(?![A-Za-z_-]*\])(?=[^\s\"'\[\],;]{6})(?![^\s]*[(){}])[^\s\"'\[\],;]+"
    r"|[(){},](?=[^\s\"'\[\](){},;]{6})(?=[^\s\"']{0,64}[0-9])(?![^\s\"'(){}]*[(){}])[^\s\"'\[\](){},;&|<>]+"
    r"|-(?=[^\s\"'=-]{8})(?=[^\s=]{0,64}[0-9])(?=[^\s=]{0,64}[A-Za-z])[^\s\"'`$;&|<>(){}\[\],=-]"
)
#: How a word continues after a quoted piece; brackets and the like belong to its surroundings.
_JOINED = re.compile(r"[\w\"'\\-]")
#: The rest of a shell's word, by the quotes around it: these end it, others belong to it.
_REST = {
    inside: re.compile(
        r"(?:[^\s\"'`;&|<>\\]|\\[^\n]?"
        + "".join(f"|{q}[^{q}\n]*{q}" for q in "\"'" if q not in inside)
        + ")*"
    )
    for inside in ("", "'", '"', "\"'")
}
_NO_SECRET = frozenset({"true", "false", "none", "null", "yes", "no", "y", "n", "0", "1", "***"})
#: Values of variables ending in AUTH that name a method of authentication or a file, not a secret.
_METHOD = re.compile(
    r"(?:basic|digest|ntlm|ldap|kerberos|gssapi|negotiate|plain|login|cram-md5|oauth2?|oidc|saml|bearer|token|key"
    r"|anonymous|required|optional|enabled?|disabled?|on|off|auto|default)(?![\w+/=:.-])"
    r"|(?:~|\.{0,2})(?:/[\w.-]+){2,}(?![\w+=:])|[\w./-]{1,128}\.(?:cfg|ini|json|pem|py|toml|txt|ya?ml)(?!\w)",
    re.ASCII | re.IGNORECASE,
)
#: The beginning of an option ending in `auth`; a switch has no value.
_AUTH_OPTION = re.compile(
    r"(?<![\w-])--?(?:(?P<switch>no|with|without|use|enable|disable|skip|require|allow)[_-])?(?:[a-z]{1,32}[_-]){0,3}$",
    re.ASCII,
)
_AUTH_HEADER = re.compile(r"(?<![\w-])X-(?:[A-Z]{1,32}-){0,3}$", re.ASCII | re.IGNORECASE)
#: Words before `token` for tokens of language models and parsers.
_ORDINARY = frozenset(
    {
        *("pad", "eos", "bos", "unk", "mask", "sep", "cls", "end", "start", "stop", "special", "next"),
        *("first", "last", "image", "max", "min", "num", "unexpected", "expected", "at", "near"),
    }
)
#: Words before a name by which a message names it, and not its value.
_NAMING = frozenset({"unknown", "undefined", "duplicate", "missing", "such", "unexpected"})
#: Words before a name and its value as separate words.
_SETTERS, _NETRC = (["set"], ["setenv"], ["setx"]), ["login"]
#: The option of fish's `set` that exports a variable.
_EXPORT = re.compile(r"-[a-zA-Z]{0,4}x|--export", re.ASCII)
#: The same, of commands that set several, or have words between: `dvc remote modify r password x`.
_TOOLS = frozenset(
    {"aws", "conda", "dvc", "git", "kubectl", "mc", "npm", "pip", "pnpm", "poetry", "rclone", "yarn"}
)
_SETS = frozenset({"config", "configure", "create", "modify", "set", "update"})
_LONGEST = 96
#: What ends a command.
_ENDS = ";&|\n"
#: How many characters before a position quotes are counted.
_FAR = 4096


def named_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the values of such names, in order."""
    return _search(text) if _SEPARATOR.search(text) else iter(())


def _search(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for start, word in _ranges(text):
        if start < position:
            continue
        match = _pattern(word).match(text, start)
        if not match or not _counts(text, word, match):
            continue
        typed = _TYPE.match(text, match.end())
        if value := value_at(text, typed.end() if typed else match.end()):
            position = value[1]
            if value[0] == match.end() and match[0][-1] in " \t" and reads_on(text, value[0]):
                continue
            yield value


@lru_cache(maxsize=len(_NAMES))
def _pattern(word: str) -> re.Pattern[str]:
    return re.compile(_NAMES[word], re.ASCII | re.IGNORECASE)


def _ranges(text: str) -> list[tuple[int, str]]:
    """The positions of pieces of names, in order."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters become two
        lowered = "".join(letter.lower() if letter.isascii() else letter for letter in text)
    ranges = []
    for word in _NAMES:
        start = lowered.find(word)
        while start >= 0:
            ranges.append((start, word))
            start = lowered.find(word, start + len(word))
    return sorted(ranges)


def _counts(text: str, word: str, match: re.Match[str]) -> bool:
    """Whether the text before it shows that it ends the name of a secret."""
    before = text[max(0, match.start() - _LONGEST) : match.start()]
    name = before.lower().rstrip("_-")
    joined = before[-1:].isalnum() and not (word == "pass" and name.endswith(_PASSES))
    if word in _ALONE and (joined or (word in _QUERIED and before.endswith("_"))):
        return False
    if word in _ENDINGS and not name.endswith(_ENDINGS[word]):
        return before.endswith("_") and match[0].startswith("KEY")
    if word == "auth":
        value = value_at(text, match.end()) if _is_auth(before, match) else None
        return value is not None and not _METHOD.match(text, value[0])
    last = name.rstrip().replace("-", "_").rpartition("_")[2].rpartition(" ")[2]
    if word == "token" and last in _ORDINARY:
        return False
    if last in _NAMING and before.endswith(" ") and match[0].endswith(": "):
        return False  # `unknown secret: wandb` says which one is meant
    if match.groupdict().get("pair"):
        return match[0][: len(word)].isupper()  # a variable's name; other pairs of texts may be anything
    return match["equals"] is not None or _is_argument(before)


def _is_auth(before: str, match: re.Match[str]) -> bool:
    """Whether it is as in `REGISTRY_AUTH=x`, `AUTH=x`, `"auth": "x"`, `X-Auth: x` or `--auth x`."""
    equals = (match["equals"] or "").strip()
    if option := _AUTH_OPTION.search(before):
        return equals in ("", "=") and match["pair"] is None and not option["switch"]
    if equals == "=" and match[0].startswith("AUTH"):
        return not before[-1:].isalnum() and before[-1:] not in ("-", ".")
    named = before[-1:] in ("_", "'", '"') or _AUTH_HEADER.search(before) is not None
    return (equals == ":" and named) or (equals == "=" and before.endswith("_"))


def _is_argument(before: str) -> bool:
    """Whether a name with a value after a blank is an option, or the argument of a command that sets it."""
    begins = max(before.rfind(mark) for mark in " \t\n\"'=") + 1
    words = [word.strip("\"'") for word in before[:begins].split()]
    if before[begins:].startswith("-") or words[-1:] in _SETTERS or words[-2:-1] == _NETRC:
        return True
    if words[-2:-1] == ["set"] and _EXPORT.fullmatch(words[-1]):
        return True
    words = before[max(before.rfind(mark) for mark in _ENDS) + 1 : begins].split()
    return not _TOOLS.isdisjoint(words) and not _SETS.isdisjoint(words)


def value_at(text: str, position: int) -> tuple[int, int] | None:
    """The value that begins there, without its quotes: a range; None for a variable, an option or nothing."""
    if default := _DEFAULT.match(text, position):
        return default.span("value")
    substituted = _SUBSTITUTED.match(text, position)
    position = substituted.end() if substituted else position
    quoted = _QUOTED.match(text, position)
    if quoted:
        start, end = quoted.span("double") if quoted["double"] else quoted.span("single")
        if _JOINED.match(text, end + 1) and (more := _rest(text, position, end + 1)) > end + 1:
            start, end = start - 1, more  # with its quotes, so that none remains unpaired
    else:
        bare = _BARE.match(text, position)
        if bare is None or (bare[0].startswith("-") and text[position - 1 : position] in (" ", "\t")):
            bare = _STRANGE.match(text, position)
        if bare is None:
            return None
        start, end = position, _rest(text, position, bare.end())
        if substituted and (close := text.find(")", bare.end(), end)) >= 0:
            end = close
    return None if text[start:end].lower() in _NO_SECRET else (start, end)


def _rest(text: str, position: int, end: int) -> int:
    """The end of a word that begins at `position` and continues at `end`: shells join adjacent pieces."""
    line = max(text.rfind("\n", 0, position) + 1, position - _FAR)
    inside = "".join(quote for quote in "\"'" if text.count(quote, line, position) % 2)
    match = _REST[inside].match(text, end)
    return match.end() if match else end
