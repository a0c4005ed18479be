"""Answers whose own headers contradict their bodies, as Azure's web server frames them."""

from __future__ import annotations

import pytest
from aiohttp import HttpVersion10, HttpVersion11, web
from aiohttp.test_utils import make_mocked_request

from local.host.triggers.framed import Verbatim, framed


def frame(
    status: int = 200, body: bytes = b"text", method: str = "GET", version: str = "1.1", **headers: str
) -> web.Response:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    request = make_mocked_request(method, "/", version=HttpVersion11 if version == "1.1" else HttpVersion10)
    return framed(web.Response(status=status, body=body, headers=named), request)


@pytest.mark.parametrize("status", [204, 205, 304])
def test_a_status_without_a_body_that_has_one_ends_the_connection(status: int) -> None:
    answer = frame(status)

    assert isinstance(answer, Verbatim)
    assert not answer.keep_alive
    assert answer.headers.get("Content-Length") == ("0" if status == 205 else None)
    assert not isinstance(frame(status, b""), Verbatim)
    assert not isinstance(frame(status, method="HEAD"), Verbatim)


@pytest.mark.parametrize(
    ("own", "status", "verbatim"),
    [("4", 200, False), ("9", 200, True), ("2", 500, False), ("x", 500, False), ("-1", 500, False)],
)
def test_a_length_of_the_apps_own_counts(own: str, status: int, verbatim: bool) -> None:
    answer = frame(Content_Length=own)

    assert (answer.status, isinstance(answer, Verbatim)) == (status, verbatim)
    assert not answer.chunked


def test_a_length_without_a_body_is_an_error_but_for_the_answer_of_head() -> None:
    assert frame(body=b"", Content_Length="4").status == 500
    head = frame(body=b"", method="HEAD", Content_Length="1234")
    assert (head.status, head.headers["Content-Length"]) == (200, "1234")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_an_answer_to_the_first_version_of_http_ends_with_its_connection(method: str) -> None:
    answer = frame(method=method, version="1.0")

    assert isinstance(answer, Verbatim)
    assert (answer.headers["Connection"], answer.keep_alive) == ("close", False)


@pytest.mark.parametrize(("coding", "kept_open"), [("chunked", True), ("gzip", False)])
def test_a_coding_of_the_apps_own_is_passed_on_over_the_plain_body(coding: str, kept_open: bool) -> None:
    answer = frame(Transfer_Encoding=coding)

    assert isinstance(answer, Verbatim)
    assert answer.keep_alive is kept_open
