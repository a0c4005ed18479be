"""`slipway submit`: what it says of a job that was taken."""

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slipway.client.request.own_job import has_its_script
from slipway.client.service import service
from slipway.commands.enqueue import enqueue
from slipway.commands.submit.submit import name_of, submit
from slipway.failure import Failure
from slipway.terminal.times import moment
from tests.doubles.server import answering, as_slipway

WARNING = {
    "severity": "warning",
    "code": "SW075",
    "pointer": "/x",
    "message": "too many",
    "remedy": "write 2",
}


async def test_the_warnings_of_a_job_and_what_it_waits_for_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def answer(request: web.Request) -> web.Response:
        problems = [{**WARNING, "file": "message", "line": 1, "column": 2}]
        waiting = {"word": "PartitionDown", "text": "it is down", "since": "2026-01-01T12:00:00Z"}
        job = {"id": "j_1", "name": "last", "state": "queued", "problems": problems, "waiting": waiting}
        return web.json_response(job)

    async with answering(as_slipway(answer)) as url, service(url) as api:
        assert await submit(api, b"{}", "mine.json") == 0

    captured = capsys.readouterr()
    assert captured.out == "j_1  last: queued\n"
    assert captured.err.splitlines()[0] == "mine.json:1:2: warning SW075 x: too many"
    since = moment("2026-01-01T12:00:00Z")
    assert captured.err.splitlines()[-2] == f"  it is down (PartitionDown, since {since})"
    assert captured.err.splitlines()[-1].endswith("use the id of this one: j_1")


@pytest.mark.parametrize(
    ("file", "name"),
    [("digits/job.json", "digits"), ("digits/mnist.json", "mnist"), ("job.json", "here"), ("-", "")],
)
async def test_a_job_without_a_name_is_called_by_its_folder_or_its_file(
    file: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here/digits").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert name_of(Path(file)) == name
    requests = []

    async def answer(request: web.Request) -> web.Response:
        requests.append(dict(request.query))
        return web.json_response({"id": "j_1", "name": "x", "state": "queued"})

    async with answering(as_slipway(answer)) as url, service(url) as api:
        await submit(api, b"{}", file, name_of(Path(file)))
    assert requests == [{"name": name} if name else {}]


def job_of(script: str) -> dict[str, object]:
    return {"properties": {"nodeCount": 1, "pyTorchSettings": {"pythonScriptFilePath": script}}}


MOUNT = {"accountName": "a", "containerName": "scripts", "relativeMountPath": "scripts"}
MOUNTED = {
    "properties": {
        "nodeCount": 1,
        "pyTorchSettings": {"pythonScriptFilePath": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/here/main.py"},
        "mountVolumes": {"azureBlobFileSystems": [MOUNT]},
    }
}
OWN_FOLDER = job_of("<SLIPWAY_FOLDER>/main.py")


@pytest.mark.parametrize(
    ("name", "document", "own"),
    [
        ("job.json", OWN_FOLDER, True),
        ("job.json", job_of("$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/here/main.py"), True),
        ("job.json", job_of("$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/common/main.py"), False),
        ("job.json", job_of("<SLIPWAY_FOLDER>/none.py"), False),
        ("job.json", MOUNTED, False),
        ("job.json", job_of("<SLIPWAY_SCRIPT>"), False),
        ("job.json", {"spec": OWN_FOLDER}, False),
        ("job.json", [], False),
        ("message.json", OWN_FOLDER, False),
    ],
)
def test_a_job_json_has_its_script_where_that_lies_beside_it(
    name: str, document: object, own: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "main.py").touch()
    (folder / name).write_text(json.dumps(document))

    assert has_its_script(folder / name) is own


def test_what_needs_a_folder_is_not_put_on_the_queue(tmp_path: Path) -> None:
    (tmp_path / "main.py").touch()
    file = tmp_path / "job.json"
    file.write_text(json.dumps(OWN_FOLDER))

    with pytest.raises(Failure, match=f"a message brings no files; upload both: slipway drop {tmp_path}"):
        enqueue.run(file, None)


@pytest.mark.parametrize(
    ("message", "reserved"),
    [
        ({"name": "last", "spec": {}}, ["last"]),
        ([{"name": "fine"}, {"name": "j_1"}, {"name": "s_1", "sweep": {}}], ["j_1", "s_1"]),
        ({"name": "s_1", "spec": {}}, []),
        ({"name": ["last"]}, []),
        ("last", []),
        (b"not JSON", []),
    ],
)
def test_a_message_whose_name_no_command_takes_is_named_before_it_is_sent(
    message: Any, reserved: list[str]
) -> None:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()

    assert enqueue.unmeant_names(body) == reserved
