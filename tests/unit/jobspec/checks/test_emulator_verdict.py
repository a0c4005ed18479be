"""The emulator refuses nothing that `slipway validate` accepts, whichever field is another one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from local.batchai.api.bodies import JOB
from local.batchai.api.rules import job_problems
from local.batchai.api.shapes import check
from shared.jobspec import Defaults, complete, with_credentials
from shared.jobspec.checks.rules import container, mounts, names
from shared.jobspec.format import duration
from shared.jobspec.text.tree import copied
from tests.breadth import examples, size
from tests.diagnosis import problems_of
from tests.unit.jobspec.jobs import (
    CLUSTER,
    FILE_SERVER,
    REFERENCE,
    VAULT,
    every_place,
    everything,
    job,
    script_toolkit,
    toolkit,
)

_FILE = Path("/nowhere/digits/job.json")
_ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT"
_SHARE = "https://account.file.core.windows.net"
#: Fields whose rule is a form: texts are made from the rule's own expression.
_FORMS: dict[str, re.Pattern[str]] = {
    "image": container._IMAGE,
    "serverUrl": container._REGISTRY,
    "shmSize": container._SHM_SIZE,
    "secretUrl": container._SECRET_URL,
    "relativeMountPath": mounts._MOUNT_PATH,
    "containerName": mounts._CONTAINER,
    "fileMode": mounts._MODE,
    "directoryMode": mounts._MODE,
    "mountOptions": mounts._OPTIONS,
    "id": names._DIRECTORY_ID,
    "name": names._VARIABLE,
    "maxWallClockTime": duration._ISO,
}
#: Others: what a person might write there.
_WRITTEN: dict[str, tuple[Any, ...]] = {
    "$schema": ("", "https://example.org/job.json", None),
    "schedulingPriority": ("low", "normal", "high", None),
    "nodeCount": (1, 2, 50, 100),
    "processCount": (1, 2, 16, 400, 2**31 - 1, None),
    "workerCount": (1, 16, 2**31 - 1),
    "parameterServerCount": (1, 2),
    "languageType": ("python", "PYTHON", "BrainScript", "brainscript", None),
    "communicationBackend": ("tcp", "Gloo", "MPI", "gloo", None),
    "accountName": ("account", "acct", "0123", None),
    "azureFileUrl": (f"{_SHARE}/logs", f"{_SHARE}/logs/a/b/", f"{_SHARE}/a-b", f"{_SHARE}/abc"),
    "id": (CLUSTER, CLUSTER.upper(), FILE_SERVER, VAULT, "1x", "_", "A" * 64),
    "cluster": ({"id": CLUSTER}, CLUSTER, "dev", None),
    "relativeMountPath": ("data", "logs", "more/data", "nfs", "A.b-c/_d"),
    "containerName": ("abc", "a-0-b", "a" * 63),
    "secretUrl": ("https://a-b.vault.azure.cn/secrets/A-1/", "https://abc.vault.azure.net/secrets/a/0"),
    "image": ("ubuntu", "127.0.0.1:5000/a:1", f"a@sha256:{'0' * 64}", "a__b/c-d.e:_"),
    "shmSize": ("16gb", "1.5g", "1024", "1GiB", "64B"),
    "maxWallClockTime": ("P7D", "PT0.0000001S", "PT1.5S", "P1W", "P00000001DT1H", "PT10080M", "PT604800.0S"),
    "credentials": ({"accountKey": "a2V5"}, {"accountKeySecretReference": REFERENCE}, {}, None),
}
_PATHS = (
    *("path", "pathPrefix", "stdOutErrPathPrefix", "pythonScriptFilePath", "configFilePath"),
    *("sourceDirectory", "pythonInterpreterPath", "pathSuffix"),
)
_ON_PATHS = (
    f"{_ROOT}/data",
    f"{_ROOT}/data/a b/ä",
    "/opt/a.py",
    "~/a.py",
    "a/b",
    "$HOME/x",
    "a" * 2000,
    "",
    None,
)
_ANYTHING = ("", " ", "a", "ä €", "a\nb\tc", "'\"\\", "x" * 5000, "$AZ_BATCHAI_TASK_INDEX", None)
_STARTS = (
    everything(),
    *(
        script_toolkit(name, processCount=2, commandLineArgs="-v", pythonInterpreterPath="/opt/python")
        for name in ("cntkSettings", "pyTorchSettings", "chainerSettings", "horovodSettings", "caffeSettings")
    ),
    script_toolkit("cntkSettings", languageType="Python"),
    toolkit("cntkSettings", languageType="BrainScript", configFilePath="/a.cntk"),
    toolkit("caffeSettings", configFilePath="/a.prototxt", processCount=2),
    script_toolkit("pyTorchSettings", communicationBackend="gloo"),
    script_toolkit("caffe2Settings"),
    script_toolkit("tensorFlowSettings", workerCount=2, parameterServerCount=1, masterCommandLineArgs="a",
        workerCommandLineArgs="b", parameterServerCommandLineArgs="c"),
    job(customToolkitSettings=None, customMpiSettings={"commandLine": "a", "processCount": 2}),
)  # fmt: skip
_ABSENT = object()


def _written(name: Any) -> tuple[Any, ...]:
    return _WRITTEN.get(name, _ON_PATHS if name in _PATHS else _ANYTHING)


def _values(name: Any, rig: Any) -> st.SearchStrategy[Any]:
    if isinstance(rig, list):
        return st.sampled_from([[], None])
    written = _written(name)
    if name not in _FORMS or (name == "id" and "/" in str(rig)):
        return st.sampled_from(written)
    formed = st.from_regex(_FORMS[name], fullmatch=True)
    return formed if name not in _WRITTEN else formed | st.sampled_from(written)


@st.composite
def _changed(draw: st.DrawFn) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A valid job with some of its fields changed or left out, and their names."""
    document: dict[str, Any] = copied(draw(st.sampled_from(_STARTS)))
    changed = []
    for _ in range(draw(st.integers(1, 3))):
        if not (places := every_place(document)):
            break
        holder, key = draw(st.sampled_from(places))
        changed.append(str(key))
        if draw(st.integers(0, 7)) == 0:
            del holder[key]
        else:
            value = draw(_values(key, holder[key]))
            holder[key] = copied(value) if isinstance(value, dict | list) else value
    return document, tuple(changed)


def _is_valid(document: Any) -> bool:
    return "error" not in {one.severity for one in problems_of(json.dumps(document).encode(), _FILE)}


def _refused(document: Any) -> list[str]:
    """What the emulator minds of the document as it is sent: with the keys of its accounts, and a cluster."""
    keys = {
        str(mount.get("accountName")): "key"
        for kind in ("azureFileShares", "azureBlobFileSystems")
        for mount in (document["properties"].get("mountVolumes") or {}).get(kind) or ()
    }
    messages = with_credentials(document, keys)
    clean, problems = check(messages, JOB)
    return [f"{one.target}: {one.message}" for one in problems or job_problems(clean["properties"])]


def _completed(document: Any) -> Any:
    """As `az batchai` completed it: the cluster in full, the account of a share, the place of its logs."""
    defaults = Defaults(
        cluster_id=CLUSTER, clusters={"dev": CLUSTER}, std_out_err_path_prefix="$AZ_BATCHAI_MOUNT_ROOT/x"
    )
    return complete(document, defaults)[0]


@pytest.mark.long
@given(_changed())
@settings(max_examples=examples(600), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_the_emulator_refuses_nothing_that_is_valid(created: tuple[dict[str, Any], tuple[str, ...]]) -> None:
    document, _ = created
    if _is_valid(document):
        assert _refused(_completed(document)) == []


def _one_by_one() -> dict[str, list[Any]]:
    """Each field that holds a value → the jobs in which only it is another one or gone."""
    goldens: dict[str, list[Any]] = {}
    for start in _STARTS:
        for index, (holder, key) in enumerate(every_place(start)):
            if isinstance(holder[key], dict | list) or not isinstance(key, str):
                continue
            for value in (*_written(key), _ABSENT):
                document = copied(start)
                at, name = every_place(document)[index]
                at[name] = value
                if value is _ABSENT:
                    del at[name]
                goldens.setdefault(key, []).append(document)
    return goldens


FIELDS = _one_by_one()


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_of_a_valid_job_can_be_another_one_and_the_emulator_takes_it(field: str) -> None:
    valid = [document for document in FIELDS[field][: size(1000, 20)] if _is_valid(document)]

    assert valid
    for document in valid:
        assert _refused(_completed(document)) == []


@pytest.mark.parametrize(
    "document",
    [
        job(inputDirectories=[{"id": "1x", "path": "$AZ_BATCHAI_JOB_MOUNT_ROOT/data"}]),
        script_toolkit("horovodSettings", processCount=16),
        script_toolkit("tensorFlowSettings", workerCount=16),
        job(containerSettings={"imageSourceRegistry": {"image": "ubuntu:22.04"}, "shmSize": "16gb"}),
        {"$schema": "https://example.org/job.json", **job()},
    ],
)
def test_what_the_emulator_once_refused_it_takes(document: Any) -> None:
    assert _is_valid(document)
    assert _refused(document) == []
