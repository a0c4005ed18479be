"""host.json: what is read, what is assumed, what is refused and how."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from local.host.hostjson import HostJson, HostJsonError, read_host_json


def _read(folder: Path, document: Any) -> HostJson:
    (folder / "host.json").write_text(document if isinstance(document, str) else json.dumps(document))
    return read_host_json(folder)


def test_an_empty_host_json_has_azure_s_defaults(tmp_path: Path) -> None:
    host = _read(tmp_path, {"version": "2.0"})

    assert host.function_timeout == timedelta(minutes=30)
    assert host.extensions.http.route_prefix == "api"
    queues = host.queues
    assert (queues.batch_size, queues.max_dequeue_count, queues.message_encoding) == (16, 5, "base64")
    assert (queues.max_polling_interval, queues.visibility_timeout) == (timedelta(minutes=1), timedelta(0))
    assert queues.threshold >= 8
    assert host.blobs.poison_blob_threshold == 5


def test_values_are_read_and_unknown_ones_left_alone(tmp_path: Path) -> None:
    queues = {
        "batchSize": 32,
        "newBatchThreshold": 0,
        "visibilityTimeout": "00:00:30",
        "messageEncoding": "none",
    }
    document = {
        "version": "2.0",
        "functionTimeout": "00:05:00",
        "extensionBundle": {"id": "x"},
        "extensions": {"queues": queues, "http": {"routePrefix": ""}},
        "logging": {"logLevel": {"default": "Warning"}},
    }

    host = _read(tmp_path, document)

    assert host.function_timeout == timedelta(minutes=5)
    assert (host.queues.batch_size, host.queues.threshold) == (32, 0)
    assert host.queues.visibility_timeout == timedelta(seconds=30)
    assert host.extensions.http.route_prefix == ""
    assert host.logging.log_level == {"default": "Warning"}


def test_a_timeout_of_minus_one_is_none(tmp_path: Path) -> None:
    assert _read(tmp_path, {"version": "2.0", "functionTimeout": "-1"}).function_timeout is None


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ("{", "host.json: .*JSON"),
        ({}, "host.json: version"),
        ({"version": "1.0"}, "host.json: version"),
        ({"version": "2.0", "functionTimeout": "5 minutes"}, "functionTimeout: .*hh:mm:ss"),
        ({"version": "2.0", "extensions": {"queues": {"batchSize": 33}}}, "extensions.queues.batchSize"),
        ({"version": "2.0", "extensions": {"queues": {"messageEncoding": "hex"}}}, "messageEncoding"),
        ({"version": "2.0", "extensions": []}, "extensions"),
    ],
)
def test_a_mistake_names_the_file_and_the_property(tmp_path: Path, document: Any, named: str) -> None:
    with pytest.raises(HostJsonError, match=named):
        _read(tmp_path, document)


def test_a_missing_file_is_reported_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(HostJsonError, match='"version"'):
        read_host_json(tmp_path)
