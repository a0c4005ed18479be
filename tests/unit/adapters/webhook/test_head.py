"""The head of an answer, read leniently: what is known of it, and where it may be trusted to end."""

from __future__ import annotations

import pytest

from shared.adapters.webhook.head import LARGEST, Head
from tests.unusual_answers import UNUSUAL, answer

SMALL = [name for name in UNUSUAL if len(answer(200, UNUSUAL[name])) < 500]


def read(data: bytes, at_once: int) -> tuple[Head, bytes | None]:
    """The head after these bytes have come in parts, and what stands behind it."""
    head, behind = Head(), None
    for start in range(0, len(data), at_once):
        part = data[start : start + at_once]
        behind = head.feed(part) if behind is None else behind + part
    return head, behind


def answer_of(head: Head) -> tuple[int | None, str | None, bytes | None]:
    return head.status, head.retry_after, head.framing


@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.parametrize("status", [200, 204, 410, 429])
def test_the_status_and_the_pause_are_read_beside_anything(name: str, status: int) -> None:
    data = answer(status, UNUSUAL[name], b"Retry-After: 77\r\n")
    head, behind = read(data, len(data))

    assert (head.status, head.retry_after, head.over) == (status, "77", True)
    assert behind == UNUSUAL[name][1]


@pytest.mark.parametrize("name", UNUSUAL)
def test_it_makes_no_difference_in_which_parts_an_answer_comes(name: str) -> None:
    data = answer(503, UNUSUAL[name], b"Retry-After: 77\r\n")
    whole, behind = read(data, len(data))
    for at_once in (1, 2, 3, 1000) if name in SMALL else (7, 1000):
        head, rest = read(data, at_once)
        assert (answer_of(head), rest) == (answer_of(whole), behind)


@pytest.mark.parametrize("name", SMALL)
def test_an_answer_that_ends_anywhere_has_the_status_that_was_in_it(
    name: str,
) -> None:
    data = answer(429, UNUSUAL[name], b"Retry-After: 77\r\n")
    for end in range(len(b"HTTP/1.1 429"), data.index(b"\r\n\r\n") + 3):
        head, _ = read(data[:end], end)
        head.cut()
        assert (head.status, head.framing, head.over) == (429, None, True)
        assert head.retry_after in (None, "77")  # never a part of it


@pytest.mark.parametrize(
    ("head", "framing"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n", b"Content-Length: 12\r\n"),
        (b"HTTP/1.1 200\r\ncontent-LENGTH:0\r\n", b"Content-Length: 0\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n", b"Transfer-Encoding: chunked\r\n"),
        (b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n", b"Content-Length: 1\r\n"),
        (b"HTTP/1.1 204 No\r\n", b"Content-Length: 0\r\n"),
        (b"HTTP/1.1 304 No\r\nContent-Length: 0\r\n", b"Content-Length: 0\r\n"),
        (b"HTTP/1.1 204 No\r\nContent-Length: 2\r\n", None),
        (b"HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n", None),
        (b"HTTP/1.1 200 OK\r\n", None),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n", None),
        (b"HTTP/2.0 200 OK\r\nContent-Length: 1\r\n", None),
        (b"HTTP/1.1 200 OK\nContent-Length: 1\r\n", None),
        (b"HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n", None),
        (b"HTTP/1.1 200 OK\r\nConnection: x\r\nConnection: close\r\nContent-Length: 1\r\n", None),
        (b"HTTP/1.1 200 OK\r\nConnection: " + b"x" * 101 + b", close\r\nContent-Length: 1\r\n", None),
        (b"HTTP/1.1 200 OK\r\n" + b"Connection: x\r\n" * 9 + b"Content-Length: 1\r\n", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n", None),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n", None),
        (b"HTTP/1.1 101 Other\r\nContent-Length: 0\r\n", None),
    ],
)  # fmt: skip
def test_only_an_answer_that_all_readers_read_alike_keeps_its_connection(
    head: bytes, framing: bytes | None
) -> None:
    one, behind = read(head + b"\r\nxyz", 1000)
    assert (one.framing, behind) == (framing, b"xyz")


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        (b"RETRY-after :  5 \r\n", "5"),
        (b"Retry-After:\r\n 120\r\n", "120"),
        (b"Retry-After: Fri, 20 Nov\r\n\t2026 12:01:30 GMT\r\n", "Fri, 20 Nov 2026 12:01:30 GMT"),
        (b"Retry-After: \xff\r\nRetry-After: 7\r\nRetry-After: 8\r\n", "7"),
        (b"Retry-After: " + b"9" * 101 + b"\r\nRetry-After: 8\r\n", "8"),
        (b"Retry-After:\r\n" + b" 9\r\n" * 200, None),
        (b"X: y\r\n Retry-After: 5\r\n", None),
        (b"X-Retry-After: 5\r\n", None),
        (b"Retry-After: 5\r\n" * 500, "5"),
    ],
)
def test_the_pause_is_the_first_value_that_may_be_one(fields: bytes, value: str | None) -> None:
    head, _ = read(b"HTTP/1.1 429 Slow\r\n" + fields + b"\r\n", 50)
    assert head.retry_after == value


@pytest.mark.parametrize("start", [b"HTTP/2", b"HTTP/3", b"HTTP/1", b"ICY", b"HTTP/2.0", b"\r\nICY"])
@pytest.mark.parametrize("status", [200, 410, 503])
def test_a_start_that_other_clients_take_has_a_status_and_ends_the_connection(
    start: bytes, status: int
) -> None:
    data = start + b" %d OK\r\nContent-Length: 2\r\nRetry-After: 7\r\n\r\nok" % status
    for at_once in (1, 3, len(data)):
        head, behind = read(data, at_once)
        assert (head.status, head.retry_after, head.framing, behind) == (status, "7", None, b"ok")
    head, _ = read(start + b" %d" % status, 1000)
    head.cut()
    assert head.status == status


#: Status lines that curl 8 or Python's http.client, on which requests stands, take, and the status they read.
SPELLINGS = {
    b"HTTP/1.1 200 OK": 200,
    b"http/1.1 200 OK": 200,
    b"Http/1.1 410 Gone": 410,
    b"hTTP/2 503": 503,
    b"HTTP/1.1 200": 200,
    b"HTTP/1.1 200 ": 200,
    b"HTTP/1.1  200 OK": 200,
    b"HTTP/1.1\t200 OK": 200,
    b"HTTP/1.1 200\tOK": 200,
    b" HTTP/1.1 200 OK": 200,
    b"\t http/1.1 200 OK": 200,
    b"HTTP/ 1.1 200 OK": 200,
    b"HTTP/1.1 200OK": 200,
    b"HTTP/1.1 200.5 OK": 200,
    b"HTTP/1.1 200\x00OK": 200,
    b"HTTP/1.1 0200 OK": 200,
    b"HTTP/1.1 +200 OK": 200,
    b"HTTP/1.10 200 OK": 200,
    b"HTTP/1.2 200 OK": 200,
    b"HTTP/0.9 200 OK": 200,
    b"HTTP/1.0 200 OK": 200,
    b"HTTP/2.0 200 OK": 200,
    b"HTTP/1.1 999 Denied": 999,
    b"HTTP/1.1 600 Odd": 600,
}


@pytest.mark.parametrize("line", SPELLINGS)
@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_a_status_line_in_a_spelling_that_other_clients_take_has_its_status(line: bytes, end: bytes) -> None:
    data = line + end + b"Content-Length: 2" + end + end + b"ok"
    keeps = end == b"\r\n" and line in (b"HTTP/1.1 200 OK", b"HTTP/1.1 200", b"HTTP/1.1 200 ")
    keeps = keeps or (end == b"\r\n" and line in (b"HTTP/1.1 999 Denied", b"HTTP/1.1 600 Odd"))
    for at_once in (1, 3, len(data)):
        head, behind = read(data, at_once)
        assert (head.status, behind) == (SPELLINGS[line], b"ok")
        assert (head.framing is not None) is keeps, "only what all readers read alike keeps its connection"


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n", b"\x16\x03\x01\x02\x00", b"HTTP/1.1 2000 OK\r\n", b"HTTP/1.1 20 OK\r\n",
        b"HTTP/1.1 099 OK\r\n", b"HTTP/1.1 2x0 OK\r\n", b"HTTP 200 OK\r\n", b"HTTP/1.1\r\n", b"200 OK\r\n",
        b"HTTP/22 200 OK\r\n", b"HTTP/2. 200 OK\r\n", b"HTTP/ 200 OK\r\n", b"ICY200 OK\r\n",
        b"HTTPS/1.1 200 OK\r\n", b"RTSP/1.0 200 OK\r\n",
        b"HTTP/1,1 200 OK\r\n", b"HTTP/01.1 200 OK\r\n", b"HTTP/1.1 -200 OK\r\n",
        b"HTTP/1.1 \xd9\xa2\xd9\xa0\xd9\xa0 OK\r\n",
        b"ICY/1.0 200 OK\r\n", b"ICYCLE 200 OK\r\n", b"icy 200 OK\r\n", b"ICY 2x0\r\n",
        b"<html>200 OK</html>", b"HTTP/1.1 " + b" " * LARGEST, b"\r\n" * LARGEST,
        b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" * (LARGEST // 30),
    ],
)  # fmt: skip
def test_what_is_not_an_answer_is_over_at_once_or_at_the_limit_without_a_status(data: bytes) -> None:
    head, _ = read(data, 10_000)
    assert (head.status, head.over, head.framing) == (None, True, None)


def test_interim_answers_are_skipped_with_all_that_they_hold() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nRetry-After: 1\r\nContent-Length: 5\r\n\r\n"
    head, behind = read(interim * 3 + b"\r\nHTTP/1.1 410 Gone\r\nContent-Length: 2\r\n\r\nok", 11)
    assert (answer_of(head), behind) == ((410, None, b"Content-Length: 2\r\n"), b"ok")


def test_a_head_is_read_up_to_its_limit_and_no_further() -> None:
    head = Head()
    head.feed(b"HTTP/1.1 200 OK\r\n")
    parts = 0
    while head.feed(b"X" * 5000) is None:
        parts += 1
    assert (head.status, head.over) == (200, True)
    assert parts == LARGEST // 5000
