"""Blob paths with parameters, and what else a function gets with a blob."""

import json
from datetime import UTC, datetime

import pytest
from azure.functions.blob import BlobConverter
from azure.functions.meta import Datum
from azure.storage.blob import BlobProperties

from local.host.pattern import BlobPattern, fill
from local.host.triggers.blob import metadata_of_blob


@pytest.mark.parametrize(
    ("path", "name", "values"),
    [
        ("drop", "a/b.txt", {"name": "a/b.txt"}),
        ("drop/{name}", "a/b.txt", {"name": "a/b.txt"}),
        ("drop/{name}.py", "a/train.py", {"name": "a/train"}),
        ("drop/{name}.py", "a/job.json", None),
        ("drop/{folder}/{name}", "a/b/c", {"folder": "a/b", "name": "c"}),
        ("drop/in/{name}", "out/x", None),
        ("drop/fixed.txt", "fixed.txt", {}),
        ("drop/{name}.(x)", "a.(x)", {"name": "a"}),
    ],
)
def test_a_path_matches_names(path: str, name: str, values: dict[str, str] | None) -> None:
    pattern = BlobPattern(path)

    assert pattern.container == "drop"
    assert pattern.match(name) == values


def test_only_names_with_the_fixed_beginning_are_listed() -> None:
    assert BlobPattern("drop/in/{name}.py").prefix == "in/"


@pytest.mark.parametrize("path", ["", "{container}/{name}", "drop/{a-b}"])
def test_a_path_with_a_mistake_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="blob path"):
        BlobPattern(path)


def test_an_output_path_is_filled() -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    assert fill("out/{name}/{DateTime}", {"name": "x"}, now) == "out/x/2026-01-02T03-04-05Z"
    assert len(fill("{rand-guid}", {}, now)) == 36


def test_a_name_that_the_trigger_does_not_provide_is_an_error() -> None:
    with pytest.raises(KeyError, match="name"):
        fill("out/{name}", {}, datetime(2026, 1, 1, tzinfo=UTC))


_AT = datetime(2026, 3, 1, tzinfo=UTC)


def test_the_properties_of_a_blob_have_the_names_of_azures_host_and_no_etag() -> None:
    properties = BlobProperties(
        **{"ETag": '"0x1"', "Content-Length": 5, "Content-Type": "text/plain", "Last-Modified": _AT},
        metadata={"by": "me"},
    )
    url = "http://127.0.0.1:1/acct/drop/a%20b?sig=secret"

    metadata = metadata_of_blob(url, "drop", "a b", properties, {"name": "a b"})

    details = json.loads(metadata["Properties"].value)
    assert details.keys() == {"ContentLength", "ContentType", "LastModified", "CreatedOn"}
    assert (metadata["Uri"].value, metadata["BlobTrigger"].value) == (url[:-11], "drop/a b")
    read = {name: Datum(type=one.kind, value=one.value) for name, one in metadata.items()}
    stream = BlobConverter.decode(Datum(type="bytes", value=b"hello"), trigger_metadata=read)
    assert (stream.name, stream.uri, stream.length, stream.metadata) == (
        "drop/a b",
        url[:-11],
        5,
        {"by": "me"},
    )
