"""How long the head of an HTTP answer may be: gateways add fields to it, of which none is ours to refuse."""

from __future__ import annotations

from typing import TypedDict


class AnswerLimits(TypedDict):
    """Options of aiohttp's sessions: bytes of the status line and of a field, and the number of fields."""

    max_line_size: int
    max_field_size: int
    max_headers: int


#: aiohttp refuses a field over 8,190 bytes, and the 129th; policies of a gateway and its cookies are longer.
ANSWER_LIMITS: AnswerLimits = {"max_line_size": 65_536, "max_field_size": 65_536, "max_headers": 1000}
