"""Which texts of a queue are base64: what the host's decoder takes, and more that is surely meant so."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest

from shared.intake.message import Request, read_message
from shared.intake.reading.unwrap import unwrap
from shared.jobspec import Limits

BARE = {"properties": {"nodeCount": 1}}
JOB_TEXT = json.dumps({**BARE, "labels": {"who": "René ~~~???!"}}, ensure_ascii=False).encode()
YAML = b"name: digits\ncommand: python train.py --epochs 3\n"
#: What the decoder of .NET takes, and more that is surely meant as base64.
LOOSE: dict[str, Callable[[bytes], bytes]] = {
    "GNU base64": base64.encodebytes,
    "lines of Windows": lambda data: base64.encodebytes(data).replace(b"\n", b"\r\n"),
    "spaces and tabs": lambda data: b" \t".join(base64.b64encode(data)[n : n + 5] for n in range(0, 999, 5)),
    "padding apart": lambda data: base64.b64encode(data).replace(b"=", b" =\n"),
    "no padding": lambda data: base64.b64encode(data).rstrip(b"="),
    "for addresses": base64.urlsafe_b64encode,
    "for addresses, no padding, lines": lambda data: base64.urlsafe_b64encode(data).rstrip(b"=") + b"\n",
}
NOT_BASE64 = [
    *(b"train", b"run my job", b"please run the training of digits now", b"runmytrainingjobplease"),
    *(
        b"AAAAAAAAAAAAAAAAAAAAA",
        base64.encodebytes(bytes(range(60))),
        base64.b64encode(JOB_TEXT)[:-5] + b"=,",
    ),
    *(b"====", b"e30=e30=e30=e30=e30=", b'"' + base64.b64encode(JOB_TEXT) + b'"'),
]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", b""),
        (b" \n", b" \n"),
        (b'{"a": 1}', b'{"a": 1}'),
        (b" [1]\n", b" [1]\n"),
        (b"\xef\xbb\xbf{}", b"\xef\xbb\xbf{}"),
        (base64.b64encode(b"{}") + b"\n", b"{}"),
        (b"e30=!", b"e30=!"),
        (b"hello!", b"hello!"),
        *((form(JOB_TEXT), JOB_TEXT) for form in LOOSE.values()),
        (base64.encodebytes(YAML), YAML),
        (base64.b64encode(YAML).rstrip(b"="), YAML),
        (base64.encodebytes(JOB_TEXT.decode().encode("utf-16")), JOB_TEXT.decode().encode("utf-16")),
        *((text, text) for text in NOT_BASE64),
    ],
)
def test_only_what_is_base64_as_a_whole_is_unwrapped(body: bytes, text: bytes) -> None:
    assert unwrap(body) == text


def test_the_text_needs_padding_and_both_alphabets() -> None:
    encoded = base64.b64encode(JOB_TEXT)
    assert encoded.endswith(b"=")
    assert b"+" in encoded or b"/" in encoded


@pytest.mark.parametrize("form", LOOSE)
def test_a_job_in_loose_base64_is_a_job(form: str) -> None:
    (request,) = read_message(LOOSE[form](json.dumps(BARE).encode()), Limits())

    assert isinstance(request, Request)
    assert (request.document, request.problems) == (BARE, ())


def test_base64_that_lost_its_end_is_called_base64() -> None:
    (request,) = read_message(base64.b64encode(JOB_TEXT)[:41], Limits())

    assert isinstance(request, Request)
    (problem,) = request.problems
    assert (problem.code, "this is base64" in problem.message) == ("SW003", True)
    assert "on a queue may be base64, once and as a whole" in problem.remedy
