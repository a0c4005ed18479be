"""The settings of clusters of one's own, for `slipway up --settings`: taken as written, or refused."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from local.stack import Ports
from slipway.failure import Failure
from slipway.stack import up
from slipway.stack.own_clusters import own_clusters

CLUSTER = {"engine": "slurm", "url": "http://127.0.0.1:6820", "user": "ada", "shared": "/home/ada/slipway"}
KEY = base64.b64encode(b"canary-" + b"k" * 32).decode()
GOOD = {"SLIPWAY_CLUSTERS": {"gpu": CLUSTER}, "SLIPWAY_SLURM_KEYS": {"gpu": KEY}}


def written(tmp_path: Path, document: Any) -> Path:
    file = tmp_path / "gpu.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "document",
    [
        GOOD,
        {"IsEncrypted": False, "Values": {name: json.dumps(value) for name, value in GOOD.items()}},
        {
            "Values": {
                "AzureWebJobsStorage": "UseDevelopmentStorage=true",
                "SLIPWAY_STORAGE": "UseDevelopmentStorage=true",
                "FUNCTIONS_WORKER_RUNTIME": "python",
                "SLIPWAY_SEAL_KEY": "",
                **GOOD,
            }
        },
    ],
    ids=["names and values", "local.settings.json", "what the example file has"],
)
def test_settings_are_read_in_either_form(tmp_path: Path, document: Any) -> None:
    result = own_clusters(written(tmp_path, document))

    assert {name: json.loads(result[name]) for name in GOOD} == GOOD
    assert result.keys() - GOOD.keys() <= {"FUNCTIONS_WORKER_RUNTIME"}


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ('{"SLIPWAY_CLUSTERS": ', "gpu.json"),
        ([], "settings, "),
        ({"Values": []}, '"Values" has to be an object'),
        ({"IsEncrypted": True, "Values": {}}, "is encrypted"),
        ({}, "names no Batch AI API: describe a Slurm cluster in SLIPWAY_CLUSTERS"),
        ({**GOOD, "SLIPWAY_SLURM_KEY": KEY}, "is not a setting; did you mean SLIPWAY_SLURM_KEYS?"),
        ({**GOOD, "url": "x"}, "'url' is not a setting"),
        ({**GOOD, "SLIPWAY_STORAGE": f"AccountKey={KEY}"}, "the stack keeps its own storage"),
        ({"SLIPWAY_CLUSTERS": {"gpu": CLUSTER}}, "SLIPWAY_SLURM_KEYS holds no key for the cluster gpu"),
        ({**GOOD, "SLIPWAY_SLURM_KEYS": {"gpu": "canary"}}, "SLIPWAY_SLURM_KEYS: gpu is neither a token nor"),
        ({**GOOD, "SLIPWAY_CLUSTERS": {"gpu": {**CLUSTER, "shared": "x"}}}, "'x' is not an absolute path"),
        ({**GOOD, "SLIPWAY_MAX_NODES": "many"}, "SLIPWAY_MAX_NODES"),
        ({**GOOD, "SLIPWAY_NAMED_KEYS": ""}, "SLIPWAY_NAMED_KEYS is empty"),
        ({**GOOD, "SLIPWAY_NAMED_KEYS": None}, "SLIPWAY_NAMED_KEYS is empty"),
        ({**GOOD, "SLIPWAY_NAMED_KEYS": {"ann": "canary"}}, "SLIPWAY_NAMED_KEYS: ann must be"),
        ({**GOOD, "SLIPWAY_ENTER_CA": "canary"}, "SLIPWAY_ENTER_CA must be the text of a private key"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_and_no_value_of_a_secret(tmp_path: Path, document: Any, says: str) -> None:
    with pytest.raises(Failure) as caught:
        own_clusters(written(tmp_path, document))

    assert says in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert "canary" not in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"nowhere\.json: cannot be read"):
        own_clusters(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("cluster", "arguments", "option"),
    [("slurm", (), "--cluster"), ("emulator", ("--containers=host",), "--containers")],
)
def test_a_cluster_of_this_machine_beside_it_is_refused(
    tmp_path: Path, cluster: str, arguments: tuple[str, ...], option: str
) -> None:
    with pytest.raises(Failure, match=f"--settings names existing clusters, and {option} is"):
        up.run(None, Ports(), 1, cluster, arguments, settings_file=written(tmp_path, GOOD))
