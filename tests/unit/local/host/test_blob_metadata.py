"""What a function with a blob trigger gets beside the content: as Azure's host hands it over."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from azure.functions.blob import BlobConverter
from azure.functions.meta import Datum
from azure.storage.blob import BlobProperties

from local.host.triggers.blob import metadata_of_blob

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
