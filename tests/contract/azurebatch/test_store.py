"""One suite over both stores of claims and records: a directory that nodes share, and real blobs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from local.azurite import Azurite
from shared.engines.node import blobs
from shared.engines.node import claim as claims
from shared.engines.node.blobs import store_of
from shared.engines.node.claim import Claim, Silent
from shared.engines.node.store import Store
from shared.engines.node.turns import Turns
from tests.contract.azurebatch.storage import TOKEN, Front, container, front, signature

pytestmark = pytest.mark.asyncio(loop_scope="session")
END = {"final": True, "state": "ended", "reason": "", "code": 0}
FIRST = [["n-1", "t.1", "infrastructure"]]


@pytest.fixture
def wire(storage: Azurite) -> Iterator[Front]:
    name = f"c{uuid.uuid4().hex}"
    container(storage, name)
    with front(storage, name) as server:
        yield server


@dataclass(frozen=True)
class Attempts:
    """Makes the stores of attempts; `plan`: as a plan names one."""

    plan: Callable[[str], str]

    def __call__(self, name: str) -> Store:
        return store_of(self.plan(name))


@pytest.fixture(params=["directory", "signature", "identity"])
def attempts(request: pytest.FixtureRequest, tmp_path: Path, storage: Azurite) -> Attempts:
    if request.param == "directory":
        return Attempts(lambda name: str(tmp_path / "attempts/e" / name))
    if request.param == "signature":
        name = f"c{uuid.uuid4().hex}"
        where = {"container": container(storage, name).url, "signature": signature(name)}
        return Attempts(lambda attempt: text(where, attempt))
    wire: Front = request.getfixturevalue("wire")
    return Attempts(lambda attempt: text(wire.where, attempt))


def text(where: dict[str, str], attempt: str) -> str:
    return json.dumps({**where, "prefix": f"attempts/e/{attempt}"})


def store_in(where: dict[str, str], attempt: str) -> Store:
    return store_of(text(where, attempt))


def _adds_first_turn(plan: str, number: int) -> subprocess.Popen[bytes]:
    program = (
        "import sys; from shared.engines.node.blobs import store_of\n"
        "from shared.engines.node.turns import Turns\n"
        "sys.exit(not Turns(store_of(sys.argv[1])).add(0, {'by': sys.argv[2]}))"
    )
    return subprocess.Popen([sys.executable, "-c", program, plan, str(number)])


async def test_of_many_that_make_the_same_new_thing_one_succeeds(attempts: Attempts) -> None:
    processes = [_adds_first_turn(attempts.plan("n-1"), number) for number in range(4)]

    codes = [process.wait(60) for process in processes]

    assert sorted(codes) == [0, 1, 1, 1]
    assert Turns(attempts("n-1")).last() == (1, {"by": str(codes.index(0))})


async def test_a_place_that_never_was_is_not_an_empty_one(attempts: Attempts) -> None:
    attempt = attempts("n-1")
    with pytest.raises(FileNotFoundError):
        attempt.names()

    attempt.reserve("7")

    assert attempt.names() == ["7"]
    attempt.child("7").names()
    assert not attempt.has("claim.json")
    assert attempt.read("claim.json") == {}
    with pytest.raises(FileExistsError):
        attempt.reserve("7")


async def test_a_second_submission_runs_nothing(attempts: Attempts) -> None:
    Claim(attempts("n-1"), "t.1", "s1").take(["7"])

    with pytest.raises(Silent) as silent:
        Claim(attempts("n-1"), "t.1", "s2").take(["8"])
    with pytest.raises(Silent) as foreign:
        Claim(attempts("n-1"), "x.1", "s3").take(["9"])

    assert (silent.value.code, foreign.value.code) == (253, 252)
    with pytest.raises(FileNotFoundError):
        attempts("n-1").child("8").names()


async def test_the_same_submission_takes_over_and_the_run_before_it_says_nothing_more(
    attempts: Attempts,
) -> None:
    first, second = (Claim(attempts("n-1"), "t.1", "s1") for _ in range(2))
    first.take(["7"])
    first.record({"final": False, "state": "running"})
    first.leave()

    second.take(["7"])

    assert (first.is_held(), second.is_held(), second.run) == (False, True, "7-2")
    with pytest.raises(Silent):
        first.record(END)
    second.record(END)
    assert attempts("n-1").child("7-2").read("result.json")["state"] == "ended"
    assert attempts("n-1").child("7").read("result.json")["state"] == "running"


async def test_the_next_attempt_takes_the_job_from_one_that_runs(attempts: Attempts) -> None:
    first, second = Claim(attempts("n-1"), "t.1", "s1"), Claim(attempts("n-2"), "t.2", "s2")
    first.take(["7"])
    first.leave()
    second.take(["8"])

    assert second.take_from(FIRST) is None

    assert not first.is_held()
    assert attempts("n-1").read("claim.json")["run"] == ""


async def test_an_end_that_was_not_heard_of_answers_for_the_next_attempt(attempts: Attempts) -> None:
    """The node was killed after the turn of its end, before its record was written."""
    first, second = Claim(attempts("n-1"), "t.1", "s1"), Claim(attempts("n-2"), "t.2", "s2")
    first.take(["7"])
    Turns(attempts("n-1")).add(1, {"token": "t.1", "ended": {**END, "code": 5, "run": "7"}})
    second.take(["8"])

    answer = second.take_from(FIRST)

    assert answer is not None
    assert (answer["code"], answer["answers"]) == (5, {"name": "n-1", "run": "7"})


async def test_a_node_that_died_between_claim_and_record_is_followed(
    attempts: Attempts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "WATCH", 0.1)
    attempts("n-1").reserve("7")
    Turns(attempts("n-1")).add(0, {"token": "t.1", "submission": "s1", "run": "7"})
    again = Claim(attempts("n-1"), "t.1", "s1", grace=0.0)

    again.take(["7"])
    again.record(END)

    assert attempts("n-1").read("claim.json")["run"] == again.run


async def test_a_storage_that_is_throttled_is_asked_again(
    wire: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    wire.faults.extend([("PUT", "turns/1", 503), ("PUT", "turns/1", 429), ("PUT", "result.json", 500)])
    claim = Claim(store_in(wire.where, "n-1"), "t.1", "s1")

    claim.take(["7"])
    claim.record({"final": False, "state": "running"})

    assert store_in(wire.where, "n-1").child("7").read("result.json")["state"] == "running"
    assert sum("PUT" in one and "turns/1" in one for one in wire.calls) == 3


async def test_a_turn_whose_answer_was_lost_is_our_own(wire: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    wire.faults.append(("PUT", "turns/1", "lost"))
    claim = Claim(store_in(wire.where, "n-1"), "t.1", "s1")

    claim.take(["7"])

    assert Turns(store_in(wire.where, "n-1")).last()[0] == 1
    assert claim.is_held()


async def test_a_claim_that_cannot_be_looked_at_is_not_lost_and_the_run_does_not_wait(wire: Front) -> None:
    claim = Claim(store_in(wire.where, "n-1"), "t.1", "s1")
    claim.take(["7"])
    wire.faults.append(("HEAD", "turns/2", 503))

    assert claim.is_held()
    assert sum(one.startswith("HEAD") for one in wire.calls) == 1


async def test_a_storage_that_stays_away_is_an_error_without_a_secret(
    storage: Azurite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "OUTAGE", 0.0)
    nowhere = {"container": "http://127.0.0.1:9/gone", "signature": "sig=canary"}

    with pytest.raises(OSError, match="no answer") as error:
        store_in(nowhere, "n-1").child("x").has("claim.json")

    assert "canary" not in str(error.value)
    assert TOKEN not in str(error.value)


async def test_a_refused_identity_is_named(wire: Front) -> None:
    """No role on the container."""
    wire.faults.append(("GET", "claim.json", 403))

    with pytest.raises(OSError, match="403 ServerBusy"):
        store_in(wire.where, "n-1").read("claim.json")


async def test_more_entries_than_a_page_are_all_there(wire: Front) -> None:
    attempt = store_in(wire.where, "n-1")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: attempt.child("a").write(str(number), {}), range(12)))
    container_of = blobs.Container(wire.where)
    pages = []
    plain = container_of.call

    def small(method: str, name: str, query: dict[str, str] | None = None) -> blobs.Answer:
        pages.append(query)
        return plain(method, name, {**(query or {}), "maxresults": "5"})

    container_of.call = small  # type: ignore[method-assign,assignment]
    names = blobs.Blobs(container_of, "attempts/e/n-1/a").names()

    assert sorted(map(int, names)) == list(range(12))
    assert len(pages) == 3
