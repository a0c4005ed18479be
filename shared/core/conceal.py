"""conceal: masks a job's secrets in a text from outside.

A program seldom prints a value unchanged: an error quotes it, JSON and addresses escape it, and a text
may contain only some lines of a longer value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, quote_plus

from shared.core.job import Job
from shared.core.ports import Ports
from shared.jobspec import open_secrets, redact

#: Shorter values would mask half of the text.
_SHORTEST_SECRET = 4
#: How a value is written inside of another text. Lone surrogates, which JSON may hold, are not bytes.
_WRITINGS: tuple[Callable[[str], str], ...] = (
    lambda value: repr(value)[1:-1],
    lambda value: ascii(value)[1:-1],
    lambda value: repr(value.encode(errors="replace"))[2:-1],
    lambda value: json.dumps(value)[1:-1],
    lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    # Beside a quote of the other kind, and as JavaScript and PHP write JSON.
    lambda value: value.replace("\\", "\\\\").replace("'", "\\'"),
    lambda value: value.replace("/", "\\/"),
    lambda value: quote(value, errors="replace"),
    lambda value: quote(value, safe="", errors="replace"),
    lambda value: quote_plus(value, errors="replace"),
)
#: An error that quotes another one writes its value twice.
_DEPTH = 2
_PLAIN = re.compile(r"[A-Za-z0-9]+")


def without_secrets(ports: Ports, job: Job, document: Mapping[str, Any] | None, text: str) -> str:
    """The text without the values that the stored document seals, and without signatures in addresses."""
    return all_without_secrets(ports, job, document, [text])[0]


def all_without_secrets(
    ports: Ports, job: Job, document: Mapping[str, Any] | None, texts: Sequence[str]
) -> list[str]:
    """The same for many texts: the values are opened once."""
    values: set[str] = set(ports.account_keys.values())

    def collect(pointer: str, value: str) -> str:
        values.add(opened := ports.seal.unseal(value, f"{job.key}{pointer}"))
        return opened

    open_secrets(dict(document or {}), collect)
    forms = _forms(values, "\n".join(texts))
    return [str(redact(_masked(text, forms))) for text in texts]


def _masked(text: str, forms: Iterable[str]) -> str:
    for form in forms:
        text = text.replace(form, "***")
    return text


def _forms(values: Iterable[str], text: str) -> list[str]:
    """Values and their lines in every form that the text contains; forms that contain others come first."""
    forms = {piece for value in values for piece in _pieces(value) if _may_stand(piece, text)}
    for _ in range(_DEPTH):
        forms |= {write(form) for form in forms for write in _WRITINGS}
    return sorted((form for form in forms if form in text), key=len, reverse=True)


def _may_stand(piece: str, text: str) -> bool:
    """Whether the text may contain a form of the piece. Quick, since a secret may have ten thousand lines."""
    # No form separates letters and digits.
    return len(piece) >= _SHORTEST_SECRET and max(_PLAIN.findall(piece), key=len, default="") in text


def _pieces(value: str) -> Iterator[str]:
    yield value
    yield from (line.strip() for line in value.splitlines())
