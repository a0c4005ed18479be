"""Secrets as arguments of commands and functions that log in: `wandb login x`, `login(key="x")`. Pure.

A pattern ends where the secret begins. It is tried only where its word is in the text, and reads a bounded
number of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from shared.jobspec.hidden.named_secrets import value_at
from shared.jobspec.hidden.prose import reads_on

_GAP = r"[ \t]{1,8}"
_WORDS = rf"(?:[^\s;&|]{{1,256}}{_GAP}){{0,12}}?"
#: Options and addresses.
_OPTIONS = rf"(?:(?:--?[a-z][\w-]{{0,64}}(?:=[^\s;&|]{{0,256}})?|https?://[^\s;&|]{{1,256}}){_GAP}){{0,6}}"
_TEXT = r"\\{0,3}(?:\"[^\"\n]{0,256}\"|'[^'\n]{0,256}')"
_QUOTE = r"(?=[rbf]{0,2}\\{0,3}[\"'])"
_KEYWORD = r"(?:\w{1,32}[ \t]{0,3}=[ \t]{0,3})?"


def _command(words: str, *options: str) -> str:
    """A command before the secret, which is its first argument, or the value of one of these options."""
    begin = r"(?<![\w.-])" + words.replace(" ", _GAP) + _GAP
    return begin + (rf"{_WORDS}(?:{'|'.join(options)})(?:=|{_GAP})" if options else _OPTIONS)


#: A word of the text → what stands before a secret.
_BEFORE: dict[str, tuple[str, ...]] = {
    "wandb": (_command("wandb login"),),
    "ngc": (_command("ngc config set", "--key", "--apikey"),),
    "kaggle": (_command("kaggle config set", "-v", "--value"),),
    "prefect": (_command("prefect cloud login", "-k", "--key"),),
    "doctl": (_command("doctl auth init", "-t"),),
    "influx": (_command("influx", "-t"),),
    "lightning": (_command("lightning login"),),
    "vault": (_command("vault login") + r"(?!\w{1,64}=)",),
    "snyk": (_command("snyk auth"),),
    "cargo": (_command("cargo login"),),
    "authtoken": (_command("ngrok (?:config )?(?:add-)?authtoken"),),
    "obscure": (_command("rclone obscure"),),
    "mc": (
        _command("(?:mc|mcli) (?:alias set|config host add)") + rf"(?:[^\s;&|]{{1,256}}{_GAP}){{2,3}}?"
        rf"(?=[^\s;&|]{{1,512}}[ \t]{{0,8}}(?:[;&|\n'\")]|--|$))",
    ),
    "poetry": (
        _command("poetry config")
        + rf"(?:pypi-token\.[\w.-]{{1,64}}|http-basic\.[\w.-]{{1,64}}{_GAP}\S{{1,256}}){_GAP}",
    ),
    "-A": (_command("https?", rf"-A{_GAP}bearer{_GAP}(?:-a|--auth)"),),
    "_auth": (rf"(?<=[\s:])_auth{_GAP}",),
    "--from-literal": (rf"--from-literal(?:=|{_GAP})[\"']?[\w.-]{{1,128}}=",),
    "login(": (
        rf"(?<!\w)login\([ \t]{{0,8}}{_KEYWORD}{_QUOTE}",
        rf"(?<!\w)login\([ \t]{{0,8}}{_KEYWORD}{_TEXT}[ \t]{{0,8}},[ \t]{{0,8}}{_QUOTE}",
    ),
    "uth": (
        rf"(?:(?<!\w)auth[ \t]{{0,3}}=[ \t]{{0,3}}|[A-Za-z]Auth)"
        rf"\([ \t]{{0,8}}{_TEXT}[ \t]{{0,8}},[ \t]{{0,8}}{_QUOTE}",
    ),
}


def login_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of these secrets, unordered."""
    for word, patterns in _BEFORE.items():
        if word in text:
            for number in range(len(patterns)):
                for match in _pattern(word, number).finditer(text):
                    value = value_at(text, match.end())
                    if value and not (value[0] == match.end() and _is_no_word(text, value[0])):
                        yield value


def _is_no_word(text: str, position: int) -> bool:
    """Whether a comment begins there, or a sentence goes on."""
    return text[position] == "#" or reads_on(text, position)


@lru_cache(maxsize=len(_BEFORE) * 2)
def _pattern(word: str, number: int) -> re.Pattern[str]:
    return re.compile(_BEFORE[word][number], re.ASCII)
