"""One verdict: the command, the API and the doors agree on every document."""

from __future__ import annotations

import json
import os
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.core.engine import Cluster
from shared.core.job import JobState
from shared.core.ports import Ports
from shared.core.refusals import REFUSALS
from shared.intake.desk.prepare import prepare
from shared.intake.drops.drop import look_at_folder
from shared.intake.message import read_request
from shared.intake.request_door import request_validated
from shared.jobspec import CODES, Defaults, Limits, script_pattern
from shared.jobspec.text.tree import copied
from slipway.rules import DEPLOYMENT
from tests.breadth import examples, one_each
from tests.diagnosis import problems_of
from tests.unit.jobspec.bad_jobs import BAD_JOBS
from tests.unit.jobspec.bad_texts import TEXTS
from tests.unit.jobspec.checks.lint_jobs import LINTED
from tests.unit.jobspec.jobs import CLUSTER, SCRIPT, every_place, everything, job, script_toolkit
from tests.unit.world import World

_FILE = Path("/nowhere/digits/job.json")
#: What a person might write anywhere.
_ODD: tuple[Any, ...] = (
    *("", " ", "a", "1x", "ä", "a b", "a/b", "../a", "/a", "data", "scripts", "logs", "scripts/more"),
    "a\r\nb",
    *("0777", "16gb", "1g", "P1D", "PT0S", "7.00:00:00", "high", "gloo", "Python"),
    *(SCRIPT, "$AZ_BATCHAI_INPUT_A", "https://a.b/c", "ubuntu:22.04", "stdouterr", "%X%\\a.py", "<x>"),
    CLUSTER,
    *(None, True, 0, 1, 2, 9, 500, 2**31, -1, 1.5, [], {}, ["a"], {"id": "a"}, {"name": "A", "value": "b"}),
)  # fmt: skip
_STARTS = (
    everything(),
    job(),
    *(
        script_toolkit(name, processCount=2)
        for name in ("cntkSettings", "pyTorchSettings", "chainerSettings", "horovodSettings")
    ),
    script_toolkit("caffeSettings"),
    script_toolkit("caffe2Settings"),
    script_toolkit("tensorFlowSettings", workerCount=2, parameterServerCount=1),
    job(customToolkitSettings=None, customMpiSettings={"commandLine": "a", "processCount": 2}),
)


@st.composite
def _documents(draw: st.DrawFn) -> dict[str, Any]:
    """A job, up to three of whose values are other ones, are gone or are doubled."""
    document: dict[str, Any] = copied(draw(st.sampled_from(_STARTS)))
    for _ in range(draw(st.integers(0, 3))):
        places = [(holder, key) for holder, key in every_place(document) if holder is not document]
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        what = draw(st.sampled_from(["other", "other", "gone", "doubled", "count"]))
        if what == "gone":
            del holder[key]
        elif what == "doubled" and isinstance(holder, list):
            holder.append(copied(holder[key]) if isinstance(holder[key], dict | list) else holder[key])
        elif what == "count" and isinstance(holder[key], int):
            holder[key] = draw(st.integers(-1, 120))
        else:
            value = draw(st.sampled_from(_ODD))
            holder[key] = copied(value) if isinstance(value, dict | list) else value
    wrap = draw(st.sampled_from(["bare", "bare", "envelope", "event"]))
    if wrap == "bare":
        return document
    message = {"name": draw(st.sampled_from(["digits", "a b", ""])), "spec": document}
    if wrap == "envelope":
        return message
    event = {"specversion": "1.0", "type": "io.slipway.job.submit.v1", "source": "/me", "id": "1"}
    return event | {"data": message}


def _decided(problems: Any) -> set[tuple[str, str]]:
    """The errors that do not depend on a deployment, and their places."""
    return {
        (one.code, one.pointer)
        for one in problems
        if one.severity == "error" and one.code not in DEPLOYMENT and one.code not in REFUSALS
    }


def _verdicts(data: bytes) -> tuple[set[tuple[str, str]], set[tuple[str, str]], set[tuple[str, str]]]:
    ports = World().ports
    request = read_request(data, ports.policy.limits)
    return (
        _decided(problems_of(data, _FILE)),
        _decided(prepare(ports, request, key="k").problems),
        _decided(prepare(ports, request, key="k", folder="digits").problems),
    )


@pytest.mark.long
@given(_documents())
@settings(max_examples=examples(400), deadline=None)
def test_the_command_the_api_and_the_drop_decide_alike(document: dict[str, Any]) -> None:
    command, api, drop = _verdicts(json.dumps(document).encode())

    assert command == api == drop


@pytest.mark.parametrize("bad", one_each(BAD_JOBS, attrgetter("code")), ids=lambda bad: bad.name)
def test_they_decide_alike_on_every_known_mistake(bad: Any) -> None:
    command, api, drop = _verdicts(json.dumps(bad.document).encode())

    assert command == api == drop


class _Clusters(NamedTuple):
    """The engines of a deployment whose one cluster is that of the documents."""

    engine: Any
    clusters: dict[str, Cluster]

    def get(self, _: str) -> Any:
        return self.engine


def _deployment() -> Ports:
    """What `slipway validate` takes for granted: the document's cluster, an account, the drop container."""
    world = World()
    name, drops = CLUSTER.rpartition("/")[2], "scripts"
    clusters = {one: Cluster(one, "x", CLUSTER) for one in ("dev", name)}
    completion = Defaults(
        cluster_id=CLUSTER,
        clusters=dict.fromkeys(clusters, CLUSTER),
        storage_account="account",
        drop_container=drops,
        drop_account="account",
        std_out_err_path_prefix="$AZ_BATCHAI_MOUNT_ROOT/logs",
    )
    world.policy(completion=completion, drop_container=drops)
    world.use(engines=_Clusters(world.engine, clusters))
    return world.ports


#: Folders of documents beside a checkout.
_FOLDERS = {
    variable: Path(os.environ.get(variable, Path(__file__).parents[5] / "shared" / name))
    for variable, name in (("SLIPWAY_RECIPES", "recipes"), ("SLIPWAY_INPUTS", "inputs"))
}


def _texts() -> dict[str, bytes]:
    """Every document of the tests of this room, by a name."""
    documents = {bad.name: bad.document for bad in BAD_JOBS}
    documents |= {f"lint: {one.name}": one.document for one in LINTED}
    documents |= {f"start {index}": start for index, start in enumerate(_STARTS)}
    texts = {name: json.dumps(document).encode() for name, document in documents.items()}
    return texts | {f"text {index}": one.text.encode() for index, one in enumerate(TEXTS)}


_Words = tuple[str, str, str, str, str]


def _differences(data: bytes) -> tuple[set[_Words], set[_Words]]:
    """What only the command says, and what only the door says, in words."""

    def words(problems: Any) -> set[_Words]:
        # Which clusters there are is not known before.
        own = (one for one in problems if one.code not in REFUSALS and one.code != "SW047")
        return {(one.code, one.pointer, one.severity, one.message, one.remedy) for one in own}

    ports = _deployment()
    request = read_request(data, ports.policy.limits)
    command = words(problems_of(data, _FILE))
    pattern = script_pattern(request.document)
    script = pattern.replace("*", "train") if pattern else None
    door = words(prepare(ports, request, key="k", folder="digits", script=script).problems)
    return command - door, door - command


def _only_of_a_deployment(only_command: set[_Words], only_door: set[_Words]) -> bool:
    """Whether they differ in what only the deployment knows, and the command says that it does not."""
    before = {(code, at) for code, at, severity, _, _ in only_command if severity == "warning"}
    after = {(code, at) for code, at, *_ in only_door}
    return before == after and {code for code, _ in before} <= {"SW039"}


@pytest.mark.parametrize(("name", "data"), sorted(_texts().items()))
def test_they_say_the_same_words_before_and_at_the_door(name: str, data: bytes) -> None:
    only_command, only_door = _differences(data)

    assert (only_command, only_door) == (set(), set()) or _only_of_a_deployment(only_command, only_door)


@pytest.mark.parametrize("variable", _FOLDERS)
def test_they_say_the_same_words_of_documents_that_others_wrote(variable: str) -> None:
    files = sorted(_FOLDERS[variable].rglob("job.json"))
    if not files:
        pytest.skip(f"there are no documents beside this checkout; {variable} may name their folder")
    for file in files:
        only_command, only_door = _differences(file.read_bytes())
        same = (only_command, only_door) == (set(), set())
        assert same or _only_of_a_deployment(only_command, only_door), file


SUBMIT = {"specversion": "1.0", "type": "io.slipway.job.submit.v1", "source": "/me", "id": "1"}


@pytest.mark.parametrize("wrapped", ["bare", "envelope", "event", "other event", "list", "blob", "no blob"])
async def test_a_dropped_job_file_is_read_as_a_message_is(wrapped: str) -> None:
    document = {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "hostname"}}}
    message = {"name": "mine", "spec": document}
    texts: dict[str, Any] = {
        "bare": document,
        "envelope": message,
        "event": {**SUBMIT, "data": message},
        "other event": {**SUBMIT, "type": "org.example.other"},
        "list": [document],
        "blob": {"specBlob": "scripts/kept/spec.json"},
        "no blob": {"spec": 1},
    }
    data = json.dumps(texts[wrapped]).encode()
    world = World()
    world.drops.upload("kept/spec.json", json.dumps(document).encode())
    world.drops.upload("digits/job.json", data)
    world.pass_time(60)

    (dropped,) = (await look_at_folder(world.ports, "digits/")).accepted
    validated = await request_validated(world.ports, read_request(data, Limits()))

    command = "error" not in {one.severity for one in problems_of(data, _FILE)}
    assert (dropped.job.state is not JobState.REJECTED) is command
    assert validated.valid is command
    assert command is (wrapped not in ("other event", "list", "no blob"))
    if wrapped in ("envelope", "event"):
        assert dropped.job.name == "mine"


async def test_the_envelope_beside_a_dropped_job_file_wins_over_its_own() -> None:
    document = {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "hostname"}}}
    message = {"name": "inner", "experiment": "kept", "spec": document}
    world = World()
    world.drops.upload("digits/job.json", json.dumps(message).encode())
    world.drops.upload("digits/slipway.json", b'{"name": "outer"}')
    world.pass_time(60)

    (dropped,) = (await look_at_folder(world.ports, "digits/")).accepted

    assert (dropped.job.name, dropped.job.experiment) == ("outer", "kept")


def test_the_table_of_what_a_deployment_knows_names_rules_that_exist() -> None:
    assert set(DEPLOYMENT) <= set(CODES)
