"""A record counts only with the proof that the program on the nodes wrote it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from shared.core.engine import Earlier, Order
from shared.core.job import Target
from shared.engines.launch.layout import Layout
from shared.engines.node.claim import Claim, Silent
from shared.engines.node.store import Directory
from shared.engines.proofs import Proofs
from shared.engines.runs import UNPROVEN
from shared.engines.shared_records import Records
from tests.hostile.unproven import FORGERIES, OWN, PROOFS, SUCCESS, TOKEN

TARGET = Target(engine="slurm", cluster="gpu", experiment="e", name="n-1", token=TOKEN)
LAYOUT = Layout("slurm", "gpu", "/shared")
#: How the genuine run of the attempt ended.
FAILURE = {**SUCCESS, "reason": "user", "code": 7, "exitCode": 7}
PLACES = {"directories": {"stdouterr": "/shared/logs/x"}}


@dataclass(frozen=True)
class Shared:
    """The directory of a cluster, as the nodes and the app see it."""

    root: Path
    layout: Layout = LAYOUT
    reads: Mapping[str, str] = field(default_factory=dict)

    @property
    def attempt(self) -> Path:
        """The directory of the first attempt."""
        return self.root / "attempts/e/n-1"

    def claim(self, token: str = TOKEN, proofs: Proofs = PROOFS) -> Claim:
        """What the program of an attempt's run has."""
        store = Directory(self.root / f"attempts/e/n-{token[-1]}", proofs.proof_of(token))
        store.prepare()
        return Claim(store, token, f"s{token[-1]}")

    def records(self, proofs: Proofs = PROOFS) -> Records:
        """What the app has."""
        return Records(Shared(self.root, reads={"/shared": str(self.root)}), proofs)


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    return Shared(tmp_path)


def _earlier(proofs: Proofs = PROOFS) -> list[list[str]]:
    return [["n-1", TOKEN, "infrastructure", *proofs.keys(TOKEN)]]


def _begun(shared: Shared) -> Claim:
    """The first run of the attempt."""
    first = shared.claim()
    first.take(["7", "0"])
    first.record({**PLACES, "state": "running", "final": False})
    return first


@pytest.mark.parametrize("way", FORGERIES)
def test_what_no_key_of_the_attempt_has_signed_is_nothing(way: str) -> None:
    value = {"token": TOKEN, "ended": dict(SUCCESS)}

    assert OWN.value("turns/2", OWN.text("turns/2", value)) == value
    assert OWN.value("turns/2", FORGERIES[way]("turns/2", value)) == {}


@pytest.mark.parametrize("way", FORGERIES)
async def test_a_forged_record_says_only_where_the_files_are(shared: Shared, way: str) -> None:
    _begun(shared)
    text = FORGERIES[way]("7-0/result.json", {**SUCCESS, **PLACES})
    (shared.attempt / "7-0/result.json").write_bytes(text)

    record = await shared.records().find(TARGET)

    assert record is not None
    assert record.keys() - {"directories"} == {"run", UNPROVEN}


@pytest.mark.parametrize("way", FORGERIES)
async def test_a_forged_turn_hides_no_record(shared: Shared, way: str) -> None:
    _begun(shared).record({**FAILURE, **PLACES})
    for number in (3, 4):
        name = f"turns/{number}"
        text = FORGERIES[way](name, {"token": TOKEN, "ended": dict(SUCCESS)})
        (shared.attempt / name).write_bytes(text)

    record = await shared.records().find(TARGET)

    assert record is not None
    assert (record["code"], UNPROVEN in record) == (7, False)


@pytest.mark.parametrize("way", FORGERIES)
async def test_where_every_turn_is_forged_nothing_of_an_end_is_believed(shared: Shared, way: str) -> None:
    """As where an image lacks what a proof needs: its files are found all the same."""
    _begun(shared)
    content = {"token": TOKEN, "ended": {**SUCCESS, **PLACES}}
    (shared.attempt / "turns/1").write_bytes(FORGERIES[way]("turns/1", content))

    record = await shared.records().find(TARGET)

    assert (record or {}).keys() <= {"directories", "run", UNPROVEN}


@pytest.mark.parametrize("way", FORGERIES)
def test_the_next_attempt_does_not_answer_with_a_forged_end(shared: Shared, way: str) -> None:
    _begun(shared).leave()
    for number in (2, 3):
        name = f"turns/{number}"
        text = FORGERIES[way](name, {"token": TOKEN, "ended": dict(SUCCESS)})
        (shared.attempt / name).write_bytes(text)
    second = shared.claim("t.2")
    second.take(["8", "0"])

    assert second.take_from(_earlier()) is None


@pytest.mark.parametrize("way", FORGERIES)
def test_a_second_start_of_the_attempt_does_not_answer_with_a_forged_end(shared: Shared, way: str) -> None:
    _begun(shared).leave()
    text = FORGERIES[way]("turns/2", {"token": TOKEN, "ended": dict(SUCCESS)})
    (shared.attempt / "turns/2").write_bytes(text)
    again = shared.claim()

    again.take(["7", "1"])

    assert again.is_held()


@pytest.mark.parametrize("way", FORGERIES)
def test_a_forged_turn_takes_no_claim_and_keeps_no_end_from_being_recorded(shared: Shared, way: str) -> None:
    first = _begun(shared)
    for number in (2, 3, 5):
        name = f"turns/{number}"
        text = FORGERIES[way](name, {"token": TOKEN, "taken": "n-2", "submission": "", "run": "7-0"})
        (shared.attempt / name).write_bytes(text)
    assert first.is_held()

    first.record({**FAILURE, **PLACES})

    second = shared.claim("t.2")
    second.take(["8", "0"])
    answer = second.take_from(_earlier())
    assert answer is not None
    assert (answer["code"], answer["answers"]) == (7, {"name": "n-1", "run": "7-0"})
    with pytest.raises(Silent) as silent:
        shared.claim().take(["7", "1"])
    assert silent.value.code == 7


async def test_what_is_adopted_has_the_proof_of_the_attempt_that_adopts_it(shared: Shared) -> None:
    _begun(shared).record({**FAILURE, **PLACES})
    second = shared.claim("t.2")
    second.take(["8", "0"])
    answer = second.take_from(_earlier())
    assert answer is not None

    second.record(answer)

    target = TARGET.model_copy(update={"name": "n-2", "token": "t.2"})
    record = await shared.records().find(target)
    assert record is not None
    assert (record["code"], record["token"], record["answers"]["run"]) == (7, "t.2", "7-0")


@pytest.mark.parametrize("origin", ["claim.json", "7-0/result.json", "turns/1"])
async def test_what_an_earlier_run_wrote_does_not_pass_as_that_of_a_later_one(
    shared: Shared, origin: str
) -> None:
    request = {"state": "ended", "reason": "terminated", "final": False, "code": 143}
    first = _begun(shared)
    first.record({**request, **PLACES})
    first.leave()
    old = (shared.attempt / origin).read_bytes()
    second = shared.claim()
    second.take(["7", "1"])
    second.record({**PLACES, "state": "running", "final": False})

    for name in ("claim.json", "7-1/result.json", "turns/2", "turns/3"):
        (shared.attempt / name).write_bytes(
            old if name != "turns/2" else (shared.attempt / name).read_bytes()
        )

    record = await shared.records().find(TARGET)
    assert record is not None
    assert (record["run"], record.get("reason")) == ("7-1", None)
    assert second.is_held()


def test_keys_differ_by_secret_and_attempt_and_are_handed_over_in_the_plan_alone() -> None:
    before = TARGET.model_copy(update={"name": "n-0", "token": "t.0"})
    order = Order(TARGET, {}, (Earlier(before, "user"),))

    changed = Proofs(("new", "old")).with_keys(order)

    keys = [key for own in changed.keys.values() for key in own]
    assert (list(changed.keys), len(set(keys))) == ([TOKEN, "saved t", "t.0"], 6)
    assert not any(key in repr(changed) for key in keys)
    assert Proofs().with_keys(order) == order
    assert "saved j_2" in Proofs(("new",)).with_keys(replace(order, resumes="j_2")).keys


@pytest.mark.parametrize(
    ("wrote", "reads"), [(("old",), ("new", "old")), (("new", "old"), ("old",)), (("new", "old"), ("new",))]
)
def test_a_key_is_rotated_while_attempts_run(wrote: tuple[str, ...], reads: tuple[str, ...]) -> None:
    text = Proofs(wrote).proof_of(TOKEN).text("claim.json", {"run": "7-0"})

    assert Proofs(reads).proof_of(TOKEN).value("claim.json", text) == {"run": "7-0"}
    assert Proofs(("third",)).proof_of(TOKEN).value("claim.json", text) == {}


async def test_without_a_secret_every_record_counts(shared: Shared) -> None:
    first = shared.claim(proofs=Proofs())
    first.take(["7", "0"])
    first.record({**FAILURE, **PLACES})

    record = await shared.records(Proofs()).find(TARGET)

    assert record is not None
    assert (record["code"], UNPROVEN in record) == (7, False)


@pytest.mark.parametrize("name", ["claim.json", "turns/1", "7-0/result.json"])
def test_objects_stay_readable_as_json(shared: Shared, name: str) -> None:
    _begun(shared)

    document = json.loads((shared.attempt / name).read_text())

    assert (document["token"], len(document["proof"])) == (TOKEN, 64)


@pytest.mark.long
def test_two_thousand_forged_turns_cost_a_run_its_time_and_nothing_else(shared: Shared) -> None:
    first = _begun(shared)
    for number in range(2, 2000):
        (shared.attempt / f"turns/{number}").write_bytes(b"{}")
    for name in ("9" * 200, "0", "01", "-1", "1e3", "\u0663", "999999999"):
        (shared.attempt / "turns" / name).write_bytes(b"{}")

    first.record({**FAILURE, **PLACES})

    with pytest.raises(Silent) as silent:
        shared.claim().take(["7", "1"])
    assert silent.value.code == 7


@pytest.mark.parametrize("place", ["a file", "a dangling link", "a link to itself"])
def test_a_store_of_turns_that_a_job_replaced_ends_the_run_and_is_not_tried_for_ever(
    shared: Shared, place: str
) -> None:
    first, turns = _begun(shared), shared.attempt / "turns"
    shutil.rmtree(turns)
    if place == "a file":
        turns.touch()
    else:
        turns.symlink_to("nowhere" if place == "a dangling link" else turns)

    assert first.is_held()
    with pytest.raises(OSError, match="turn"):
        first.record(dict(FAILURE))


async def test_a_turn_above_one_that_was_removed_is_seen_by_the_run_before_it_and_by_the_app(
    shared: Shared,
) -> None:
    first = _begun(shared)
    junk = shared.attempt / "turns/2"
    junk.write_bytes(b"{}")
    first.leave()
    second = shared.claim()
    second.take(["7", "0"])
    junk.unlink()

    assert not first.is_held()
    with pytest.raises(Silent):
        first.record(dict(SUCCESS))
    second.record(dict(FAILURE))
    (shared.attempt / "turns/1").unlink()
    record = await shared.records().find(TARGET)
    assert record is not None
    assert (record["reason"], record["code"]) == ("user", 7)
