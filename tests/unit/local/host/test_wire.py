"""Frames between host and worker: what goes in comes out."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.host.worker.contract import Data, Function, Invocation, Result, RetryPolicy
from local.host.worker.wire import (
    encode,
    function_from_json,
    function_to_json,
    invocation_from_json,
    invocation_to_json,
    receive,
    result_from_json,
    result_to_json,
)


async def _round_trip(*documents: Any) -> list[Any]:
    reader = asyncio.StreamReader()
    for document in documents:
        reader.feed_data(encode(document))
    reader.feed_eof()
    return [await receive(reader) for _ in documents]


async def test_frames_arrive_one_by_one_and_the_end_is_none() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(encode({"a": 1}) + encode({"b": b"\x00\xff"}) + b"\x00")
    reader.feed_eof()

    assert [await receive(reader) for _ in range(3)] == [{"a": 1}, {"b": b"\x00\xff"}, None]


@given(first=st.binary(), second=st.binary(), text=st.text())
def test_bytes_and_texts_survive(first: bytes, second: bytes, text: str) -> None:
    document = {"first": first, "nested": [{"second": second, "text": text}]}

    assert asyncio.run(_round_trip(document)) == [document]


async def test_a_header_that_looks_like_a_reference_stays_a_header() -> None:
    document = {"headers": {"$bytes": "0"}}

    assert await _round_trip(document) == [document]


def test_other_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        encode({"x": {1}})


async def test_functions_invocations_and_results_survive() -> None:
    retry = RetryPolicy(strategy="fixed_delay", limit=3, delay=1.5)
    function = Function(name="f", id="1", bindings=({"type": "queueTrigger", "name": "m"},), retry=retry)
    call = Invocation(
        id="i",
        function_id="1",
        inputs={"m": Data("bytes", b"\xff")},
        metadata={"Id": Data("string", "x")},
        retry_count=1,
        retry_limit=3,
    )
    answer = Data("http", {"status": 200, "headers": [["a", "b"]], "body": b"body"})
    result = Result(outputs={"o": Data("json", "[1]")}, returned=answer)

    documents = await _round_trip(
        function_to_json(function), invocation_to_json(call), result_to_json(result)
    )

    assert function_from_json(documents[0]) == function
    assert invocation_from_json(documents[1]) == call
    assert result_from_json(documents[2]) == result
