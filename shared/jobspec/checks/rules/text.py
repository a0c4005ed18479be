"""Characters and lengths: rules that hold for every text of any document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from shared.jobspec.format.limits import Limits
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.file_names import HIDING
from shared.jobspec.text.lookalikes import character_name
from shared.jobspec.text.tree import Words, step, walk, words

#: Control characters except tab and line breaks; characters that hide or reorder text; half surrogates.
_FORBIDDEN = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{HIDING}\ud800-\udfff]")
#: Remains of copying, without a meaning in these places.
_INVISIBLE = frozenset("\u200b\u2060\ufeff")
_LONGEST_KEY = 256


def texts(document: Any, limits: Limits) -> Iterable[Problem]:
    """Forbidden characters and excessive lengths, in names of properties and in values."""
    return () if _harmless(words(document), limits) else by_place(document, limits)


def by_place(document: Any, limits: Limits) -> Iterator[Problem]:
    """The same, text by text."""
    for node in walk(document):
        if isinstance(node.value, str):
            match = _FORBIDDEN.search(node.value)
            if match:
                message = f"the text contains the character {character_name(match[0])}"
                fix = Fix("swap", node.pointer, "", (match[0],)) if match[0] in _INVISIBLE else None
                yield problem("SW007", node.pointer, message, piece=match[0], fix=fix)
            if len(node.value) > limits.max_text:
                message = f"the text has {len(node.value)} characters; {limits.max_text} are allowed"
                yield problem("SW015", node.pointer, message)
        elif isinstance(node.value, dict):
            for key in node.value:
                match = _FORBIDDEN.search(key)
                if match:
                    message = f"the name of this property contains the character {character_name(match[0])}"
                    yield problem("SW007", step(node.pointer, key), message, of_name=True)
                if len(key) > _LONGEST_KEY:
                    message = f"the name has {len(key)} characters"
                    yield problem("SW015", step(node.pointer, key), message, of_name=True)


def is_forbidden(text: str) -> bool:
    """Whether the text has a character that no text may have, which is reported as such."""
    return bool(_FORBIDDEN.search(text))


def _harmless(words: Words, limits: Limits) -> bool:
    """Whether one scan of the whole text shows that there is nothing to find."""
    text, names = "".join(words.texts), "".join(words.names)
    short = len(names) <= _LONGEST_KEY or max(map(len, words.names)) <= _LONGEST_KEY
    short = short and (len(text) <= limits.max_text or max(map(len, words.texts)) <= limits.max_text)
    return short and all(one.isprintable() or not _FORBIDDEN.search(one) for one in (text, names))
