"""Sentences of people: "refuses our token: is the key right?" names a secret, and holds none. Pure."""

from __future__ import annotations

import re

#: Words that hold sentences together, or say what is wrong with a secret. Each is a poor password.
_WORD = (
    "(?:"
    "a|an|the|this|that|these|it|its|they|there|we|you|he|she|who|is|are|was|were|be|been|has|have|"
    "had|does|did|do|can|cannot|could|may|must|should|will|would|not|no|none|if|when|where|why|what|"
    "which|how|and|or|but|nor|than|then|so|as|at|by|for|from|in|into|of|on|off|to|with|without|"
    "before|after|because|until|again|expired|invalid|missing|required|refused|rejected|denied|"
    "unknown|unauthorized|wrong|empty|given|needed|only|use|see|give|set|all|any|each|every|name|"
    "value|ask|check|contact|please|your|our|their|incorrect|correct|unexpected|failed|failure|ok|okay|"
    "accepted|verified|changed|unchanged|reset|disabled|enabled|ignored|hidden|redacted|unused|too"
    ")"
)
_ENDS = r"(?=[,.;:!?)`]{0,2}(?:[ ]|$))"
#: One of them, or a few plain words and then one of them; a status of HTTP; or what stands for a value.
_SENTENCE = re.compile(
    rf"(?:(?:[a-z][a-z'\u2019-]{{0,24}}(?:://[^\s\"']{{1,64}})?,?[ ]){{0,4}}{_WORD}"
    rf"|[45][0-9][0-9][ ][a-z]{{3,16}}|%s|bearer|basic|[a-z_]{{0,8}}\u2026){_ENDS}",
    re.IGNORECASE | re.MULTILINE,
)


def reads_on(text: str, position: int) -> bool:
    """Whether a sentence goes on there, where the value of a secret could stand."""
    return _SENTENCE.match(text, position) is not None
