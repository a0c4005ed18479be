"""Secrets as arguments of commands and functions that log in: `wandb login x`, `login(key="x")`. Pure.

A pattern ends where the secret begins. It is tried only where its word is in the text, and reads a bounded
number of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from shared.jobspec.secrets.named_secrets import value_at
from shared.jobspec.secrets.prose import reads_on

_GAP = r"[ \t]{1,8}"
_WORDS = rf"(?:[^\s;&|]{{1,256}}{_GAP}){{0,12}}?"
#: Options and addresses.
_OPTIONS = rf"(?:(?:--?[a-z][\w-]{{0,64}}(?:=[^\s;&|]{{0,256}})?|https?://[^\s;&|]{{1,256}}){_GAP}){{0,6}}"
_TEXT = r"\\{0,3}(?:\"[^\"\n]{0,256}\"|'[^'\n]{0,256}')"
_QUOTE = r"(?=[rbf]{0,2}\\{0,3}[\"'])"
_ONE_WORD = rf"[^\s;&|]{{1,256}}{_GAP}"
#: Nothing but another command may follow the secret.
_IS_LAST = r"(?=[^\s;&|]{1,512}[ \t]{0,8}(?:[;&|\n'\")]|--|$))"
_KEYWORD = r"(?:\w{1,32}[ \t]{0,3}=[ \t]{0,3})?"


#: What a dialogue waits for, and its answer.
_PROMPT = r"(?i:assword|passphrase|passcode|token)[^\n;{]{0,64}"
_SEND = rf"[{{ \t\n]{{0,8}}(?:exp_)?send{_GAP}(?:--{_GAP})?{_QUOTE}"


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
    "vault": (
        _command("vault login") + r"(?!\w{1,64}=)",
        *(
            _command("vault (?:kv (?:put|patch)|write)")
            + rf"{_WORDS}(?:[\w.-]{{1,64}}=[^\s;&|]{{0,256}}{_GAP}){{{n}}}"
            r"[\w.-]{1,64}="
            for n in range(4)
        ),
    ),
    "keyvault": (_command("az keyvault secret set", "--value"),),
    "secretsmanager": (_command("aws secretsmanager", "--secret-string"),),
    "put-parameter": (_command("aws ssm put-parameter", "--value"),),
    "gh secret": (_command("gh secret set", "-b", "--body"),),
    "htpasswd": (
        rf"(?<![\w.-])htpasswd{_GAP}(?=(?:-\w{{1,8}}{_GAP}){{0,4}}?-\w{{0,8}}b)(?:-\w{{1,8}}{_GAP}){{1,5}}"
        rf"(?:{_ONE_WORD}){{1,2}}?{_IS_LAST}",
    ),
    "redis-cli": (_command("redis-cli", "AUTH", "auth") + rf"(?:{_ONE_WORD})??{_IS_LAST}",),
    "rabbitmqctl": (_command("rabbitmqctl (?:add_user|change_password)") + _ONE_WORD,),
    "refresh-token": (_command("gcloud auth activate-refresh-token") + _ONE_WORD,),
    "wpa_passphrase": (_command("wpa_passphrase") + _ONE_WORD,),
    "nmcli": (_command("nmcli", "password"),),
    "airflow": (_command("airflow users create", "-p"),),
    "vercel": (_command("vercel", "-t"),),
    "netlify": (_command("netlify", "--auth"),),
    "anaconda": (_command("anaconda", "-t"),),
    "conda token": (_command("conda token set"),),
    "bw unlock": (_command("bw unlock"),),
    "bw login": (_command("bw login") + rf"[^\s;&|-][^\s;&|]{{0,256}}{_GAP}",),
    "smbclient": (_command("smbclient") + rf"(?://|\\\\)[^\s;&|]{{1,256}}{_GAP}(?!-)",),
    "clearml-init": (_command("clearml-init", "--key"),),
    "auth:token": (_command("heroku auth:token"),),
    "encrypt_string": (_command("ansible-vault encrypt_string"),),
    "mysqlsh": (
        rf"(?<![\w.-])mysqlsh{_GAP}(?:{_ONE_WORD}){{0,3}}?[^\s:@;&|]{{1,128}}:(?=[^\s:@]{{1,512}}@)",
    ),
    "SECRET": (rf"\b(?i:create){_GAP}[^;\n]{{0,64}}\b(?i:secret)\b[^;\n]{{1,256}}?\bSECRET{_GAP}{_QUOTE}",),
    ":pserver:": (r":pserver:[^\s:@]{1,128}:(?=[^\s:@]{1,512}@)",),
    "<(": (
        rf"(?:pass\w{{0,8}}-file|data-file|sshpass{_GAP}-f)(?:=|[ \t]{{0,8}})"
        rf"<\((?:echo|printf){_GAP}(?:-n{_GAP})?",
    ),
    "--password-command": (rf"--password-command(?:=|{_GAP})[\"']?(?:echo|printf){_GAP}",),
    "\\npassword": (rf"\\npassword{_GAP}",),
    "secret.key": (r"(?<=\.)secret\.key=",),
    "account.key": (r"(?<=\.)account\.key[\w.-]{0,128}=",),
    **{
        word: (
            rf"\b(?i:create|alter){_GAP}(?i:user|role|login)\b[^;\n]{{1,256}}?\b{word}(?:{_GAP}=)?{_GAP}{_QUOTE}",
        )
        for word in ("PASSWORD", "password")
    },
    **{
        word: (rf"\b(?i:identified)\b(?i:{_GAP}with{_GAP}\w{{1,64}})?{_GAP}{word}{_GAP}{_QUOTE}",)
        for word in ("BY", "by")
    },
    "snyk": (_command("snyk auth"),),
    "cargo": (_command("cargo login"),),
    "authtoken": (_command("ngrok (?:config )?(?:add-)?authtoken"),),
    "obscure": (_command("rclone obscure"),),
    "net use": (
        rf"(?<![\w.-])net{_GAP}use{_GAP}(?:[A-Za-z*]:?{_GAP})?[\"']?\\{{2,4}}[^\s;&|]{{1,256}}{_GAP}"
        rf"(?:/[^\s;&|]{{1,256}}{_GAP}){{0,6}}(?![/*])",
    ),
    # expect "assword:"; send "x"; expect { "assword:" { send "x" } }
    "send": (
        rf"\bexpect{_GAP}(?:-\w{{1,8}}{_GAP}){{0,3}}(?=[\"'*{{])[^\n;]{{0,128}}?{_PROMPT}[\n;}}]{_SEND}",
        rf"{_PROMPT}\{{{_SEND}",
    ),
    "mc": (_command("(?:mc|mcli) (?:alias set|config host add)") + rf"(?:{_ONE_WORD}){{2,3}}?{_IS_LAST}",),
    "poetry": (
        _command("poetry config")
        + rf"(?:pypi-token\.[\w.-]{{1,64}}|http-basic\.[\w.-]{{1,64}}{_GAP}\S{{1,256}}){_GAP}",
    ),
    "-A": (_command("https?", rf"-A{_GAP}bearer{_GAP}(?:-a|--auth)"),),
    "_auth": (rf"(?<=[\s:])_auth{_GAP}",),
    "--from-literal": (rf"--from-literal(?:=|{_GAP})[\"']?[\w.-]{{1,128}}=",),
    "login(": (
        rf"(?<!\w)login\([ \t]{{0,8}}{_KEYWORD}{_QUOTE}",
        rf"(?<!\w)login\([ \t]{{0,8}}{_KEYWORD}(?:None|{_TEXT})[ \t]{{0,8}},[ \t]{{0,8}}{_KEYWORD}{_QUOTE}",
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


@lru_cache(maxsize=len(_BEFORE) * 5)
def _pattern(word: str, number: int) -> re.Pattern[str]:
    return re.compile(_BEFORE[word][number], re.ASCII)
