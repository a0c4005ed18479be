"""The news about jobs and nodes: everything that changed, once, and nothing that did not."""

from typing import Any

import pytest

from slipway.client.calls.answers import Listed, LogChunk
from slipway.client.jobs.watch import Watch, cluster_news, job_news, log_news
from slipway.terminal.screen import Line


def a_job(*states: str, **more: Any) -> dict[str, Any]:
    history = [{"sequence": number, "state": state} for number, state in enumerate(states, 1)]
    return {"id": "j_1", "door": "drop", "name": "digits", "state": states[-1], "history": history, **more}


def a_cluster(nodes: int, **counts: int) -> dict[str, Any]:
    return {"name": "dev", "nodes": nodes, "counts": {"idle": 0, "running": 0} | counts}


def test_states_between_two_looks_are_reported_too() -> None:
    lines = job_news(a_job("accepted"), a_job("accepted", "submitting", "queued", "running"))

    assert [line.text for line in lines] == ["submitting", "queued", "running"]
    assert {line.who for line in lines} == {"drop  digits"}


def test_a_job_that_is_new_is_reported_from_its_beginning() -> None:
    assert [line.text for line in job_news(None, a_job("accepted", "queued"))] == ["accepted", "queued"]


def test_nothing_new_is_no_line() -> None:
    assert job_news(a_job("accepted"), a_job("accepted")) == []
    assert cluster_news(a_cluster(2, idle=2), a_cluster(2, idle=2)) == []


def test_a_job_that_goes_on_to_run_says_why_it_is_told_again() -> None:
    after = a_job("running", "running")
    after["history"][1]["note"] = "exit code 3; its nodes are kept until 04:15 UTC"

    (line,) = job_news(a_job("running"), after)

    assert line.text == "running: exit code 3; its nodes are kept until 04:15 UTC"


def test_a_bad_end_says_why() -> None:
    (line,) = job_news(a_job("running"), a_job("running", "failed", message="exit code 3"))

    assert (line.text, line.style) == ("failed: exit code 3", "red")


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (None, a_cluster(0), "0 nodes"),
        (a_cluster(0), a_cluster(2, preparing=2), "0 → 2 nodes: 2 preparing"),
        (a_cluster(2, preparing=2), a_cluster(2, running=1, idle=1), "2 nodes: 1 idle, 1 running"),
        (a_cluster(2, leaving=2), a_cluster(1), "2 → 1 node"),
    ],
)
def test_a_cluster_is_reported_when_its_nodes_change(
    before: dict[str, Any] | None, after: dict[str, Any], text: str
) -> None:
    assert [line.text for line in cluster_news(before, after)] == [text]


def test_a_cluster_that_cannot_be_asked_is_reported_once() -> None:
    broken = {"name": "dev", "error": "no answer"}

    assert [line.text for line in cluster_news(a_cluster(1), broken)] == ["cannot be queried: no answer"]
    assert cluster_news(broken, broken) == []
    assert [line.text for line in cluster_news(broken, a_cluster(1, idle=1))] == ["1 node: 1 idle"]


def test_every_line_of_a_log_is_shown_and_moves_no_cursor() -> None:
    lines = log_news(a_job("running"), [b"one", b"two", b"", b"x" * 300, b"\x1b[2Jfour\x07"])

    assert [line.text for line in lines] == ["│ one", "│ two", "│ " + "x" * 300, "│ four\\x07"]


def test_a_progress_bar_is_one_line_and_standard_error_is_marked() -> None:
    lines = log_news(a_job("running"), [b"\r10%\r20%\r"], "1", is_error=True)

    assert [line.text for line in lines] == ["1 ! 20%"]


async def test_a_job_that_runs_is_asked_only_for_files_that_have_grown() -> None:
    class Counting(_Logs):
        async def log(self, job_id: str, offset: int = 0, file: str = "") -> LogChunk:
            self.lists += 100
            return await super().log(job_id, offset, file)

    service = Counting({"stdout.txt": b"a\n", "stderr.txt": b""})
    service.record = a_job("running", engine={})
    watch = Watch(service, list[Line]().append)  # type: ignore[arg-type]
    for _ in range(9):
        await watch.poll()
    assert service.lists == 3 + 100 * 2, "a list at each third look, and the file with text until it is read"


async def test_a_log_is_read_to_its_end_with_a_last_line_that_has_none() -> None:
    service, lines = _Logs({"stdout.txt": b"one\ntwo\nthree"}), list[Line]()
    service.record = a_job("running", "succeeded", engine={})
    watch = Watch(service, lines.append)  # type: ignore[arg-type]
    for _ in range(2):
        await watch.poll()
    assert [line.text for line in lines] == ["│ one", "│ two", "│ three", "running", "succeeded"]


class _Service:
    """One job that goes on: lists have no history."""

    def __init__(self) -> None:
        self.record = a_job("accepted")
        self.read = 0

    async def clusters(self) -> list[dict[str, Any]]:
        return []

    async def jobs(self) -> Listed:
        return Listed([{name: value for name, value in self.record.items() if name != "history"}], None)

    async def job(self, job_id: str) -> dict[str, Any]:
        self.read += 1
        return self.record


class _Logs(_Service):
    """The same, with these files, which are read in small pieces."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__()
        self._files = files
        self.lists = 0

    async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
        self.lists += 1
        return [{"name": name, "bytes": len(data)} for name, data in self._files.items()]

    async def log(self, job_id: str, offset: int = 0, file: str = "") -> LogChunk:
        data = self._files[file][offset : offset + 5]
        return LogChunk(data, offset + len(data), more=bool(data))


async def test_of_several_processes_every_line_is_shown_with_its_rank_and_once() -> None:
    service = _Logs({"stdout-0.txt": b"zero\n", "stdout-1.txt": b"one\ntwo", "stderr-1.txt": b"oh\n"})
    lines = list[Line]()
    service.record = a_job("running", "failed", engine={}, message="exit code 1")
    watch = Watch(service, lines.append)  # type: ignore[arg-type]
    for _ in range(3):
        await watch.poll()

    assert [line.text for line in lines] == [
        *("0 │ zero", "1 │ one", "1 │ two", "1 ! oh"),
        *("running", "failed: exit code 1"),
    ]
    assert service.lists == 1, "what is read to its end is not asked for again"


async def test_a_record_is_read_when_its_line_in_the_list_has_changed() -> None:
    service, lines = _Service(), list[Line]()
    watch = Watch(service, lines.append)  # type: ignore[arg-type]
    for record in (a_job("accepted"), a_job("accepted"), a_job("accepted", "submitting", "queued")):
        service.record = record
        await watch.poll()
    assert [line.text for line in lines] == ["accepted", "submitting", "queued"]
    assert service.read == 2
