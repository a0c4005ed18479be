"""Tokens that are recognised by their shape, under any name. Pure.

A pattern is tried only where its prefix is in the text, and cannot start inside a match of its own kind, so
the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_WORD, _HEX, _CAPITALS = r"[A-Za-z0-9]", r"[0-9a-f]", r"[A-Z0-9]"
_NAME = r"[A-Za-z0-9_-]"
#: The prefix of a token → the pattern of the rest. Providers publish these, so that scanners can find them.
_SHAPES: dict[str, str] = {
    # GitHub, GitLab, package registries, Docker Hub
    **{f"gh{kind}_": f"{_WORD}{{20,}}" for kind in "pousr"},
    "github_pat_": r"[A-Za-z0-9_]{20,}",
    **{
        f"gl{kind}-": f"{_NAME}{{16,}}"
        for kind in ("pat", "dt", "ft", "soat", "rt", "ptt", "cbt", "imt", "agent", "oas", "ffct")
    },
    "GR1348941": f"{_NAME}{{16,}}",
    "npm_": f"{_WORD}{{30,}}",
    "pypi-": f"{_NAME}{{40,}}",
    "rubygems_": f"{_HEX}{{40,}}",
    **dict.fromkeys(("dckr_pat_", "dckr_oat_"), f"{_NAME}{{20,}}"),
    # Models and experiments
    "hf_": f"{_WORD}{{20,}}",
    "api_org_": f"{_WORD}{{20,}}",
    "sk-": f"{_NAME}{{20,}}",
    "gsk_": f"{_WORD}{{32,}}",
    "xai-": f"{_NAME}{{40,}}",
    "r8_": f"{_NAME}{{30,}}",
    "nvapi-": f"{_NAME}{{40,}}",
    "pplx-": f"{_WORD}{{40,}}",
    "wandb_v1_": r"[A-Za-z0-9_]{20,}",
    "lsv2_": f"{_NAME}{{30,}}",
    "dapi": rf"{_HEX}{{32}}(?:-\d)?",
    # Clouds
    **dict.fromkeys(("AKIA", "ASIA", "ABIA", "ACCA"), f"{_CAPITALS}{{16}}"),
    "AIza": f"{_NAME}{{30,}}",
    "GOCSPX-": f"{_NAME}{{20,}}",
    "ya29.": r"[A-Za-z0-9._-]{20,}",
    "LTAI": f"{_WORD}{{12,}}",
    "AKID": f"{_WORD}{{30,}}",
    **{f"do{kind}_v1_": f"{_HEX}{{40,}}" for kind in "opr"},
    **dict.fromkeys(("hvs.", "hvb."), f"{_NAME}{{20,}}"),
    "AGE-SECRET-KEY-1": f"{_CAPITALS}{{40,}}",
    "tskey-": f"{_NAME}{{16,}}",
    # Messages and money
    **{f"xox{kind}-": r"[A-Za-z0-9-]{10,}" for kind in "abeoprs"},
    "xapp-": r"[A-Za-z0-9-]{10,}",
    "SG.": r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    **dict.fromkeys(("sk_live_", "sk_test_", "rk_live_", "rk_test_"), f"{_WORD}{{16,}}"),
    "shpat_": f"{_HEX}{{32}}",
    **dict.fromkeys(("sq0atp-", "sq0csp-"), f"{_NAME}{{20,}}"),
    "lin_api_": f"{_WORD}{{32,}}",
    "PMAK-": f"{_NAME}{{40,}}",
    "hooks.slack.com/": r"(?:services|workflows|triggers)/[A-Za-z0-9_/-]{20,}",
    # JSON Web Tokens, whose header is always an object
    "eyJ": r"[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}",
}
#: Secrets of Entra applications have their mark in the middle.
_ENTRA, _ENTRA_MARK = re.compile(r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{30,}"), "Q~"
_DISCORD, _DISCORD_MARK = re.compile(r"/api/webhooks/\d{5,25}/[A-Za-z0-9_-]{20,}"), "/api/webhooks/"
_BLOCK = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BLOCK_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


def token_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of tokens and private keys, unordered."""
    for start in _SHAPES:
        if start in text:
            yield from (match.span() for match in _pattern(start).finditer(text))
    if _ENTRA_MARK in text:
        yield from (match.span() for match in _ENTRA.finditer(text))
    if _DISCORD_MARK in text:
        yield from (match.span() for match in _DISCORD.finditer(text))
    if "PRIVATE KEY" in text:
        yield from _blocks(text)


@lru_cache(maxsize=len(_SHAPES))
def _pattern(start: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(start)}{_SHAPES[start]}", re.ASCII)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Private keys, each up to its last line, or to the end if that is missing."""
    position = 0
    while begun := _BLOCK.search(text, position):
        ended = _BLOCK_END.search(text, begun.end())
        position = ended.end() if ended else len(text)
        yield begun.start(), position
