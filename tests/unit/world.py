"""The dispatcher over memory, with a clock and a cluster that the test controls."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.adapters.sealing import AesSeal
from shared.adapters.storage.dead import TableDeadMessages
from shared.adapters.storage.finished_rows import TableFinishedJobs
from shared.adapters.storage.job_sweeps import TableJobSweeps
from shared.adapters.storage.node_history import TableNodeHistories
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.teams import TableTeams
from shared.adapters.webhook.channels import ChannelSender
from shared.core.engine import Cluster, Engine
from shared.core.job import Job
from shared.core.notify.channels import Channel
from shared.core.ports import Ports
from shared.delivery.deliver import deliver
from shared.intake.accept import Accepted
from shared.intake.arrive import message_arrived
from shared.jobspec import Defaults
from shared.lifecycle.sweeper import PassCounts, make_pass
from shared.settings import Settings
from shared.wiring import policy_of
from tests.doubles.memory import (
    MemoryActivity,
    MemoryArchive,
    MemoryDrops,
    MemoryLedger,
    MemoryQueues,
    MemoryTable,
    MemoryWebhooks,
)
from tests.doubles.memory_engine import MemoryEngine
from tests.doubles.memory_snapshots import MemorySnapshots

SECRET = "whsec_" + base64.b64encode(b"a signing key of thirty-two bytes"[:32]).decode()
CLUSTER = Cluster(
    "dev",
    "memory",
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/g/providers/Microsoft.BatchAI"
    "/workspaces/w/clusters/dev",
)

#: That of a deployment without settings, on which jobs may mount any container.
POLICY = policy_of(Settings({"SLIPWAY_STORAGE": "UseDevelopmentStorage=true"}), {"dev": CLUSTER})
POLICY = replace(POLICY, limits=replace(POLICY.limits, mountable=None))
COMPLETION = Defaults(
    cluster_id=CLUSTER.id,
    clusters={"dev": CLUSTER.id},
    storage_account="acct",
    drop_container="scripts",
    drop_account="acct",
    std_out_err_path_prefix="$AZ_BATCHAI_MOUNT_ROOT/logs",
)


def job_json(**properties: Any) -> dict[str, Any]:
    return {
        "properties": {
            "nodeCount": 1,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
            "customToolkitSettings": {"commandLine": "echo hello"},
            **properties,
        }
    }


@dataclass
class Engines:
    engine: MemoryEngine
    clusters: Mapping[str, Cluster] = field(default_factory=lambda: {"dev": CLUSTER})

    def get(self, engine: str) -> Engine:
        return self.engine


class World:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
        self.engine = MemoryEngine()
        self.ledger = MemoryLedger(self.clock)
        self.outbox = TableOutbox(self.ledger.store)
        self.dead = TableDeadMessages(self.ledger.store)
        self.finished = TableFinishedJobs(self.ledger.store)
        self.archive = MemoryArchive()
        self.activity = MemoryActivity()
        self.drops = MemoryDrops(self.clock)
        self.snapshots = MemorySnapshots(self.clock)
        self.queues = MemoryQueues()
        self.webhooks = MemoryWebhooks()
        count = itertools.count()
        self.ports = Ports(
            ledger=self.ledger,
            outbox=self.outbox,
            dead=self.dead,
            finished=self.finished,
            archive=self.archive,
            activity=self.activity,
            node_histories=TableNodeHistories(self.ledger.store),
            job_sweeps=TableJobSweeps(self.ledger.store),
            teams=TableTeams(self.ledger.store),
            drops=self.drops,
            snapshots=self.snapshots,
            queues=self.queues,
            webhooks=self.webhooks,
            channels=ChannelSender(self.webhooks, {}, ""),
            engines=Engines(self.engine),
            seal=AesSeal([base64.b64encode(b"k" * 32).decode()]),
            policy=replace(POLICY, receipts=True, completion=COMPLETION),
            clock=self.clock,
            token=lambda: f"t{next(count)}",
            jitter=lambda: 0.5,
            pause=self.pause,
            secrets={"default": (SECRET,), "team": (SECRET,)},
            account_keys={"acct": "storage-key"},
            troubles=self.ledger.store.troubles,
        )

    def clock(self) -> datetime:
        return self.now

    def policy(self, **changes: Any) -> None:
        self.ports = replace(self.ports, policy=replace(self.ports.policy, **changes))

    def open_channels(self, **channels: Channel) -> None:
        sender = ChannelSender(self.webhooks, channels, "https://app.example.com/api/ui/")
        self.use(channels=sender)
        self.policy(channels=channels)

    def use(self, **ports: Any) -> None:
        self.ports = replace(self.ports, **ports)

    async def pause(self, seconds: float) -> None:
        self.pass_time(seconds)

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    async def message(self, document: Any, message_id: str = "m1") -> Accepted:
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        (accepted,) = await message_arrived(self.ports, body, message_id)
        return accepted

    async def named(self, name: str, **members: Any) -> Job:
        """A job that came by the queue."""
        return (await self.message({"spec": job_json(), "name": name, **members}, name)).job

    async def make_pass(self, seconds: float = 60) -> PassCounts:
        self.pass_time(seconds)
        return await make_pass(self.ports)

    async def wake(self) -> None:
        """Deliver every message that is visible in the queue of deliveries now."""
        ready = [m for m in self.queues.messages if m[0] == "job-events" and m[2] == 0]
        self.queues.messages[:] = [m for m in self.queues.messages if m not in ready]
        for _, body, _ in ready:
            wake = json.loads(body)
            await deliver(self.ports, wake["job"], wake["sequence"])

    async def job(self, job_id: str) -> Job:
        stored = await self.ledger.get(job_id)
        assert stored is not None
        return stored.job

    def receipt(self, job: Job) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.drops.receipt_files[f"{job.receipt}/receipt.json"])
        return answer

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, _, body in self.webhooks.posts]


def rows_of(world: World) -> list[Any]:
    """Every row of the ledger, as it is stored."""
    assert isinstance(world.ledger.table, MemoryTable)
    return [one.row for one in world.ledger.table.held.values()]
