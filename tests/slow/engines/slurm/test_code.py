"""The code of a job in runs of the program of the nodes: what runs is what was accepted, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.core.job import JobState, Reason
from shared.engines.recorded import explained, recorded
from tests.doubles.archives import COMMAND, FOLDER, PRINTED, digest, file, packed
from tests.doubles.code_storage import CodeStorage, code_storage
from tests.slow.engines.slurm.test_program import Nodes, custom

_ARCHIVE = packed(*FOLDER)


@pytest.fixture
def storage() -> Iterator[CodeStorage]:
    with code_storage() as server:
        yield server


@pytest.fixture(params=[1, 2])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Nodes:
    return Nodes(tmp_path, nodes=request.param)


def test_the_job_runs_in_its_own_copy_of_the_folder(node: Nodes, storage: CodeStorage) -> None:
    node.site = replace(node.site, code=storage.source(_ARCHIVE))

    code = node.run(**custom(COMMAND), jobPreparation={"commandLine": "python3 -c 'import features'"})

    assert (code, node.output("stdout.txt")) == (0, PRINTED), node.output("stderr.txt")
    assert len(storage.requests) == 1, "the nodes of this test share their directory"
    assert not list((node.root / "temporary").glob("*/*")), "it goes with the run"


def test_a_script_below_the_mount_root_runs(node: Nodes, storage: CodeStorage) -> None:
    node.site = replace(node.site, code=storage.source(_ARCHIVE, at="scripts/digits"))
    command = 'cd "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits" && ' + COMMAND

    assert node.run(**custom(command)) == 0
    assert node.output("stdout.txt") == PRINTED


def test_the_next_attempt_runs_the_same_bytes_after_an_edit(node: Nodes, storage: CodeStorage) -> None:
    source = storage.source(_ARCHIVE)
    node.site = replace(node.site, code=source)
    assert node.run(**custom("exit 3")) == 3
    storage.source(packed(file("train.py", "print('edited')")))

    process = node.second("user", **custom(COMMAND))
    process.communicate(timeout=60)

    assert (process.returncode, node.output("stdout.txt", "8-0")) == (0, PRINTED)


def _end(storage: CodeStorage, content: bytes | None = None, answer: tuple[int, str] | None = None) -> Any:
    source = storage.source(_ARCHIVE)
    if answer:
        storage.answers = [answer] * 2
    else:
        storage.replace(source, content)
    return source


@pytest.mark.parametrize(
    ("content", "answer", "code", "reason", "text", "is_unstarted"),
    [
        (None, (403, "AuthenticationFailed"), 250, Reason.INFRASTRUCTURE, "no longer valid", True),
        (None, None, 251, Reason.PREPARATION, "its code was deleted", False),
        (packed(file("train.py", "evil")), None, 250, Reason.INFRASTRUCTURE, "not the code that was", False),
    ],
    ids=["expired", "deleted", "different"],
)
def test_without_its_code_nothing_of_the_job_runs_and_the_record_says_why(
    node: Nodes,
    storage: CodeStorage,
    content: bytes | None,
    answer: tuple[int, str] | None,
    code: int,
    reason: Reason,
    text: str,
    is_unstarted: bool,
) -> None:
    node.site = replace(node.site, code=_end(storage, content, answer))
    mark = node.root / "mark"

    assert node.run(**custom(f"touch {mark}"), jobPreparation={"commandLine": f"touch {mark}"}) == code

    record = node.record()
    end = explained(recorded(record)._replace(state=JobState.FAILED), record)
    assert not mark.exists()
    assert (end.reason, end.unstarted) == (reason, is_unstarted)
    assert text in end.message
    journal = "execution.log" if node.nodes == 1 else "execution-node0.log"
    assert "canary" not in str(record) + node.output(journal)


def test_a_hostile_archive_ends_the_job_and_leaves_nothing(node: Nodes, storage: CodeStorage) -> None:
    node.site = replace(node.site, code=storage.source(packed(file("../../../evil", "x"))))

    assert node.run(**custom("true")) == 251

    assert "is not a path below the folder" in node.record()["message"]
    assert not list(node.root.rglob("evil"))


def test_the_job_cannot_change_which_program_brings_its_code(node: Nodes, storage: CodeStorage) -> None:
    """Variables of the job's author, which its own processes get."""
    node.site = replace(node.site, code=storage.source(_ARCHIVE))
    (node.root / "evil").mkdir(parents=True)
    (node.root / "evil/json.py").write_text(f"open('{node.root}/seen', 'w')\nraise SystemExit\n")
    chosen = [{"name": "PYTHONPATH", "value": f"{node.root}/evil"}]

    assert node.run(**custom("cat .hidden"), environmentVariables=chosen) == 0

    assert not (node.root / "seen").exists()
    assert digest(_ARCHIVE) in storage.requests[0]


def test_a_run_that_is_cut_off_while_it_gets_its_code_is_followed_by_one_that_begins_anew(
    tmp_path: Path, storage: CodeStorage
) -> None:
    node = Nodes(tmp_path)
    node.site = replace(node.site, code=storage.source(packed(*FOLDER)))
    storage.answers = [(503, "ServerBusy")] * 1000
    first = node.start(**custom(COMMAND))
    node.until("temporary/7-0/code.in-place")
    first.kill()
    first.communicate(timeout=60)
    storage.answers = []

    process = node.start(restarts="1", **custom(COMMAND))
    process.communicate(timeout=60)

    assert (process.returncode, node.output("stdout.txt", "7-1")) == (0, PRINTED)
