"""What no try could process or deliver: kept with its reason, and back on its way exactly once."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest

from shared.adapters.sealing import AesSeal
from shared.adapters.storage.dead import TableDeadMessages
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Operation, VersionedRow
from shared.core.errors import Misconfigured, Misuse, Unavailable
from shared.core.job import Job, JobState, Stored
from shared.core.ledger.dead import DeadMessage
from shared.core.ports import Ports, Posted
from shared.intake.arrive import message_arrived, poison_arrived
from shared.intake.dead_letter import bury_poison
from shared.operate.redeliver import redeliver_event, redeliver_job
from shared.operate.redrive import listed, redrive
from tests.doubles.memory import MemoryDrops, MemoryTable
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
BODY = json.dumps({"spec": job_json()}).encode()


class Silent(MemoryTable):
    async def get(self, partition: str, row: str) -> VersionedRow | None:
        raise Unavailable("storage answered 503 ServerBusy")


class BusyTable(MemoryTable):
    async def transact(self, operations: Sequence[Operation]) -> list[str]:
        raise Unavailable("storage answered 503 ServerBusy")


class Closed(MemoryDrops):
    """A container `runs` that may not be written to, until a role is given back."""

    closed = True
    puts = 0

    async def put_receipt_file(self, name: str, body: bytes, *, replace: bool) -> None:
        if self.closed:
            raise Unavailable("storage answered 403 AuthorizationPermissionMismatch")
        self.puts += 1
        await super().put_receipt_file(name, body, replace=replace)


async def _no_receipt(world: World, *, notify: object = ()) -> tuple[Job, Closed]:
    """A job whose receipt was given up, in a container that is mended now."""
    accepted = await world.message({"spec": job_json(), "notify": notify})
    await world.wake()
    runs = Closed(world.clock)
    world.use(drops=runs)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    for _ in range(10):
        await world.make_pass(30 * 3600)
    (notice,) = await world.outbox.dead()
    assert (notice.job_id, notice.deliveries[0].state) == (accepted.job.id, "dead")
    runs.closed = False
    return await world.job(accepted.job.id), runs


async def _through_the_door(world: World) -> int:
    """Every message on the queue `jobs`, as the trigger gives them; how many there were."""
    messages = [body for queue, body, _ in world.queues.messages if queue == "jobs"]
    world.queues.messages[:] = [one for one in world.queues.messages if one[0] != "jobs"]
    for number, body in enumerate(messages):
        await message_arrived(world.ports, body.encode(), f"new{number}")
    return len(messages)


def _broken(world: World, error: BaseException) -> Ports:
    """A dispatcher in which every job fails for this reason when it is recorded."""

    class Broken(TableLedger):
        async def create(self, *_: object) -> Stored:
            raise error

    return replace(world.ports, ledger=Broken(world.ledger.store))


async def _buried(world: World, body: bytes = BODY, message_id: str = "m1") -> str:
    await message_arrived(_broken(world, ValueError("a defect")), body, message_id, tries=41)
    return str((await listed(world.ports))[-1].id)


async def test_a_message_whose_last_try_fails_for_its_own_sake_is_kept_and_not_tried_again(
    world: World,
) -> None:
    identity = await _buried(world)

    (dead,) = await listed(world.ports)
    assert (dead.id, dead.kind, dead.queue) == (identity, "message", "jobs")
    assert dead.reason == "tried 41 times; a defect of Slipway, which its log describes"
    assert await message_arrived(world.ports, BODY, "m1", tries=42) == []
    assert world.engine.started == []


async def test_the_reason_quotes_an_error_that_is_ours(world: World) -> None:
    await message_arrived(_broken(world, Misuse("no such thing")), BODY, "why1", tries=41)

    (dead,) = await listed(world.ports)
    assert dead.reason == "tried 41 times; no such thing"


async def test_an_outage_of_any_length_ends_no_message(world: World) -> None:
    table = BusyTable(world.clock)
    ledger = TableLedger(ShardedTable(table, 4, linger=0))
    world.use(ledger=ledger, dead=TableDeadMessages(ShardedTable(table, 4, linger=0)))
    for tries in range(1, 200):
        with pytest.raises(Unavailable):
            await message_arrived(world.ports, BODY, "m1", tries=tries)
    world.use(ledger=world.ledger, dead=world.dead)

    (accepted,) = await message_arrived(world.ports, BODY, "m1", tries=200)

    assert (accepted.created, len(world.engine.started)) == (True, 1)
    assert await listed(world.ports) == []


@pytest.mark.parametrize(
    "error", [Unavailable("storage answered 503"), Misconfigured("no such identity"), TimeoutError()]
)
async def test_a_last_try_that_meets_an_outage_is_followed_by_another_one(
    world: World, error: Exception
) -> None:
    for tries in (41, 42):
        with pytest.raises(type(error)):
            await message_arrived(_broken(world, error), BODY, "m1", tries=tries)
    assert [dead.reason.partition(":")[0] for dead in await listed(world.ports)] == ["is tried again"]

    await message_arrived(world.ports, BODY, "m1", tries=43)

    assert len(world.engine.started) == 1
    assert await listed(world.ports) == []


async def test_a_message_that_kills_its_process_again_and_again_is_dead(world: World) -> None:
    class Killed(BaseException):
        """The process is gone."""

    for tries in range(41, 44):
        with pytest.raises(Killed):
            await message_arrived(_broken(world, Killed()), BODY, "m1", tries=tries)
    assert await message_arrived(world.ports, BODY, "m1", tries=44) == []

    (dead,) = await listed(world.ports)
    assert "the process died" in dead.reason
    await redrive(world.ports, dead.id)
    await _through_the_door(world)
    assert len(world.engine.started) == 1


async def test_storage_that_stops_answering_in_the_middle_of_a_last_try_turns_no_message_dead(
    world: World,
) -> None:
    class Stops(TableDeadMessages):
        """It takes what is held for one more try, and then no word on how that ended."""

        async def keep(self, message: DeadMessage) -> None:
            if message.reason.startswith("is tried again"):
                raise Unavailable("storage answered 503 ServerBusy")
            await super().keep(message)

    stops = replace(_broken(world, Unavailable("storage answered 503")), dead=Stops(world.ledger.store))
    for tries in (41, 42):
        with pytest.raises(Unavailable):
            await message_arrived(stops, BODY, "m1", tries=tries)
    (accepted,) = await message_arrived(world.ports, BODY, "m1", tries=43)
    assert accepted.created
    assert await listed(world.ports) == []


async def test_a_redriven_message_that_meets_a_long_outage_goes_on_after_it(world: World) -> None:
    identity = await _buried(world)
    await redrive(world.ports, identity)
    ((_, pointer, _),) = world.queues.messages
    down = replace(world.ports, dead=TableDeadMessages(ShardedTable(Silent(world.clock), 4, linger=0)))
    for tries in range(1, 60):
        with pytest.raises(Unavailable):
            await message_arrived(down, pointer.encode(), "p1", tries=tries)

    await message_arrived(world.ports, pointer.encode(), "p1", tries=60)

    assert len(world.engine.started) == 1
    assert await listed(world.ports) == []


async def test_a_blob_that_the_host_gave_up_in_an_outage_is_looked_at_and_nothing_is_dead(
    world: World,
) -> None:
    world.drops.upload("d/run/job.json", json.dumps(job_json()).encode())
    world.pass_time(60)
    body = json.dumps(
        {"Type": "BlobTrigger", "ContainerName": "scripts", "BlobName": "d/run/job.json"}
    ).encode()

    await poison_arrived(_broken(world, Unavailable("storage answered 503")), "p1", body)
    assert world.queues.messages == [("jobs-poison", body.decode(), 300.0)]
    await poison_arrived(world.ports, "p2", body)

    assert len(world.engine.started) == 1
    assert await listed(world.ports) == []
    await poison_arrived(_broken(world, ValueError("a defect")), "p3", body)
    assert await listed(world.ports) == []  # a job of that folder is there


async def test_a_blob_that_fails_for_its_own_sake_is_kept(world: World) -> None:
    world.drops.upload("d/run/job.json", json.dumps(job_json()).encode())
    world.pass_time(60)
    body = b'{"Type": "BlobTrigger", "ContainerName": "scripts", "BlobName": "d/run/job.json"}'
    await poison_arrived(_broken(world, ValueError("a defect")), "p1", body)
    assert [dead.kind for dead in await listed(world.ports)] == ["message"]


async def test_a_message_that_cannot_be_kept_is_not_taken_off_its_queue(world: World) -> None:
    class Unwritable(TableDeadMessages):
        async def keep(self, message: object) -> None:
            raise Unavailable("storage answered 503 ServerBusy")

    ports = replace(_broken(world, ValueError("a defect")), dead=Unwritable(world.ledger.store))
    with pytest.raises(Unavailable):
        await message_arrived(ports, BODY, "m1", tries=41)


async def test_it_goes_back_through_its_door_once_however_often_it_is_redriven(world: World) -> None:
    identity = await _buried(world)
    for _ in range(2):
        assert await redrive(world.ports, identity) == "message"

    assert await _through_the_door(world) == 2

    assert len(world.engine.started) == 1
    assert await listed(world.ports) == []
    with pytest.raises(Misuse) as error:
        await redrive(world.ports, identity)
    assert (error.value.status, bool(error.value.remedy)) == (404, True)


async def test_a_job_that_the_message_had_started_after_all_is_joined(world: World) -> None:
    first = await world.message({"spec": job_json()}, "m1")
    identity = await _buried(world)

    await redrive(world.ports, identity)
    await _through_the_door(world)

    assert world.engine.started == [(await world.job(first.job.id)).target.name]  # type: ignore[union-attr]


async def test_a_message_stays_dead_until_its_door_has_dealt_with_it(world: World) -> None:
    identity = await _buried(world)
    await redrive(world.ports, identity)
    (pointer,) = [body for queue, body, _ in world.queues.messages if queue == "jobs"]
    world.use(seal=AesSeal([base64.b64encode(b"x" * 32).decode()]))  # a wrong key: the try fails

    for tries in range(1, 45):
        with suppress(Misconfigured):
            await message_arrived(world.ports, pointer.encode(), "p1", tries=tries)

    assert [dead.id for dead in await listed(world.ports)] == [identity]


async def test_the_copy_from_a_poison_queue_is_kept_too(world: World) -> None:
    for _ in range(2):
        await bury_poison(world.ports, "jobs", "p7", base64.b64encode(BODY))
    (dead,) = await listed(world.ports)
    await redrive(world.ports, dead.id)
    await _through_the_door(world)
    assert len(world.engine.started) == 1


async def test_a_poison_message_waits_on_while_the_ledger_does_not_answer(world: World) -> None:
    world.use(dead=TableDeadMessages(ShardedTable(BusyTable(world.clock), 4, linger=0)))
    await bury_poison(world.ports, "jobs", "p7", base64.b64encode(BODY))
    assert world.queues.messages == [("jobs-poison", BODY.decode(), 300.0)]


async def test_the_content_of_a_message_is_sealed_and_never_listed(world: World) -> None:
    body = b'{"accountkey": "canary-77", \xff'
    identity = await _buried(world, body)
    assert "canary-77" not in str(world.ledger.rows) + str(await listed(world.ports))
    assert base64.b64encode(b"canary-77").decode()[:8] not in str(world.ledger.rows)

    await redrive(world.ports, identity)
    await _through_the_door(world)
    (job,) = world.ledger.jobs
    assert job.state is JobState.REJECTED


async def test_without_a_key_a_message_is_kept_as_it_was_sent(world: World) -> None:
    world.use(seal=AesSeal([]))
    identity = await _buried(world)
    await redrive(world.ports, identity)
    await _through_the_door(world)
    assert len(world.engine.started) == 1


async def test_a_dead_event_is_listed_and_goes_out_again(world: World) -> None:
    world.webhooks.answers = [
        Posted("refused", None, "not public", None, 0),
        Posted("delivered", 204, "2xx", None, 1),
    ]
    accepted = await world.message({"spec": job_json(), "notify": [HOOK]})
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    (dead,) = await listed(world.ports)
    assert (dead.kind, dead.job) == ("event", accepted.job.id)
    assert dead.reason.endswith(": not public")

    assert await redrive(world.ports, dead.id) == "event"
    await world.wake()

    assert await listed(world.ports) == []
    assert len(world.webhooks.posts) == 2


async def test_a_receipt_that_was_given_up_is_listed_and_written_when_it_is_redriven(world: World) -> None:
    job, runs = await _no_receipt(world)
    (dead,) = await listed(world.ports)
    assert dead.reason == "receipt:: storage answered 403 AuthorizationPermissionMismatch"

    assert await redrive(world.ports, dead.id) == "event"
    await world.wake()

    assert f"{job.receipt}/receipt.json" in runs.receipt_files
    assert await listed(world.ports) == []


async def test_a_redrive_of_a_receipt_may_be_repeated_until_it_is_written(world: World) -> None:
    await _no_receipt(world)
    (dead,) = await listed(world.ports)
    for _ in range(2):
        assert await redrive(world.ports, dead.id) == "event"
    await world.wake()

    assert await listed(world.ports) == []
    with pytest.raises(Misuse) as error:  # nothing is left to be done
        await redrive(world.ports, dead.id)
    assert error.value.status == 404


async def test_the_receipts_of_a_job_that_were_given_up_are_written_with_its_redelivery(world: World) -> None:
    job, runs = await _no_receipt(world)

    assert [notice.job_id for notice in await redeliver_job(world.ports, job.id)] == [job.id]
    await world.wake()

    assert f"{job.receipt}/receipt.json" in runs.receipt_files
    assert await listed(world.ports) == []


async def test_an_event_goes_out_again_with_its_receipt_only_if_that_is_missing(world: World) -> None:
    world.webhooks.answers = [Posted("delivered", 204, "2xx", None, 1)]
    _, runs = await _no_receipt(world, notify=[HOOK])
    (dead,) = await listed(world.ports)
    for posts in (2, 3):
        await redeliver_event(world.ports, dead.id)
        await world.wake()
        assert (len(world.webhooks.posts), runs.puts) == (posts, 1)
    assert await listed(world.ports) == []


async def test_a_receipt_is_written_though_the_address_beside_it_is_disabled(world: World) -> None:
    world.webhooks.answers = [Posted("gone", 410, "410 Gone", None, 1)]
    job, runs = await _no_receipt(world, notify=[HOOK])
    (dead,) = await listed(world.ports)

    await redrive(world.ports, dead.id)
    await world.wake()

    assert f"{job.receipt}/receipt.json" in runs.receipt_files
    with pytest.raises(Misuse) as error:
        await redrive(world.ports, dead.id)
    assert error.value.status == 409


async def test_a_notice_that_was_given_up_goes_to_its_queue_when_it_is_redriven(world: World) -> None:
    world.policy(notices=True)
    job = (await world.message({"spec": job_json()})).job
    await world.wake()
    event = (await world.outbox.events(job.id))[0]
    given_up = tuple(delivery.model_copy(update={"state": "dead"}) for delivery in event.deliveries)
    await world.outbox.revive(event)
    await world.outbox.settle(event.model_copy(update={"deliveries": given_up}))
    world.queues.messages.clear()

    assert await redrive(world.ports, event.event_id) == "event"
    await world.wake()

    assert world.queues.messages == [("job-notices", event.body, 0)]
    assert await listed(world.ports) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'"io.slipway.dead.redrive.v1"',
        b'{"type": "io.slipway.dead.redrive.v1"}',
        b"[" * 150,
    ],
)
async def test_what_only_looks_like_a_redriven_message_harms_nothing(world: World, body: bytes) -> None:
    await message_arrived(world.ports, body, "m1")
    assert world.engine.started == []
