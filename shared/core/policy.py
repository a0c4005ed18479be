"""The limits and times of the use cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from shared.core.cost.prices import Price
from shared.core.notify.channels import Channel
from shared.core.notify.schedule import Schedule
from shared.core.notify.webhook_url import UrlPolicy
from shared.core.pacing.wait_kinds import (
    LATE,
    LONGEST_JOB_WAIT,
    LONGEST_SLOT,
    SKEW,
    Planned,
    WaitKind,
    is_over,
)
from shared.jobspec import Defaults, JsonObject, Limits

#: In the metadata of a field: the setting that fills it.
SETTING = "setting"


def _setting(name: str) -> Mapping[str, str]:
    """What marks a field that a setting fills: the row of the setting has the default."""
    return {SETTING: name}


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The limits and times of the use cases: settings, what `wiring` makes of several, and constants.

    Times in seconds.
    """

    source: str = field(metadata=_setting("SLIPWAY_SOURCE"))
    drop_container: str = field(metadata=_setting("SLIPWAY_DROP_CONTAINER"))
    #: in which only the app writes: no job mounts them with its key
    own_containers: frozenset[str]
    settle: float = field(metadata=_setting("SLIPWAY_SETTLE_SECONDS"))
    message_tries: int = 40
    dispatch_deadline: float = 20.0
    #: until the sweeper repeats a submission that did not finish
    submit_lease: float = field(metadata=_setting("SLIPWAY_SUBMIT_LEASE_SECONDS"))
    lost_after_misses: int = 3
    lost_after: float = 300.0
    #: attempts of a job that cost no retry, before one that its cluster did not start costs one: as many as
    #: in a night without nodes
    free_attempts: int = 50
    #: when an event is tried again, and when it is given up
    schedule: Schedule
    #: until the sweeper delivers an event that was not delivered at once
    deliver_grace: float = field(metadata=_setting("SLIPWAY_DELIVER_GRACE_SECONDS"))
    deliver_batch: int = 50
    deliver_deadline: float = 20.0
    deliver_patience: float = 1.0
    #: for the line of a failed job that its record shows, and for the last lines in its receipt
    last_error_patience: float = 1.0
    last_lines_patience: float = 2.0
    #: for the list of a job's files with numbers, and for those that are found by a list only
    metrics_patience: float = 5.0
    #: for a part of a file that a person asks for
    read_patience: float = 20.0
    #: for what a cluster says of itself while a job is explained
    explain_patience: float = 5.0
    pass_deadline: float = 120.0
    ask_deadline: float = 60.0
    #: for what clusters report, before the jobs that wait are judged without those that have not answered
    report_patience: float = 10.0
    #: between two inventories, and until one leaves the other folders to the next pass; 0: none is made
    inventory_every: float = field(metadata=_setting("SLIPWAY_INVENTORY_SECONDS"))
    inventory_deadline: float = 30.0
    inventory_window: timedelta = field(metadata=_setting("SLIPWAY_INVENTORY_DAYS"))
    drop_patience: float = 60.0
    #: how long a finished record stays in the table; 0: for good
    retention: timedelta
    archive_batch: int = 100
    #: between two runs of the archive, and until one leaves the other records to the next pass; 0: none
    archive_every: float = 600.0
    archive_deadline: float = 30.0
    max_document: int = field(metadata=_setting("SLIPWAY_MAX_DOCUMENT_BYTES"))
    max_script: int = 16 << 20
    #: of the archive with a job's code
    code_mib: int = field(metadata=_setting("SLIPWAY_CODE_MIB"))
    #: files directly in one folder of a drop
    max_files: int = 20_000
    #: stops submissions, regardless of the pause in the ledger
    paused: bool = field(metadata=_setting("SLIPWAY_PAUSED"))
    #: after how long a running job with idle GPUs, or one with a silent log, is warned (0: never), and how
    #: long after that it ends
    idle_gpus: float = field(metadata=_setting("SLIPWAY_IDLE_GPU_MINUTES"))
    idle_log: float = field(metadata=_setting("SLIPWAY_IDLE_LOG_MINUTES"))
    idle_grace: float = field(metadata=_setting("SLIPWAY_IDLE_GRACE_MINUTES"))
    #: for how long a job that failed may keep its nodes; zero: not at all
    max_hold: timedelta = field(metadata=_setting("SLIPWAY_MAX_HOLD"))
    #: whether people may enter running jobs, where a cluster offers that
    enter: bool = field(metadata=_setting("SLIPWAY_ENTER"))
    #: jobs in an hour of one caller or door; 0: any number
    max_jobs_per_hour: int = field(metadata=_setting("SLIPWAY_MAX_JOBS_PER_HOUR"))
    #: jobs that are submitted and have not ended; 0: any number
    max_active_jobs: int = field(metadata=_setting("SLIPWAY_MAX_ACTIVE_JOBS"))
    notices: bool = field(metadata=_setting("SLIPWAY_NOTICES"))
    #: a receipt for every job, not only for drops and jobs without a receiver
    receipts: bool
    #: the address of the pages of the rules; "" if they are only in the project
    rules_url: str = field(metadata=_setting("SLIPWAY_RULES_URL"))
    #: an operator's own prices, and the region of the clusters; "" if unknown
    prices: tuple[Price, ...]
    region: str = field(metadata=_setting("SLIPWAY_REGION"))
    default_notify: tuple[JsonObject, ...] = field(metadata=_setting("SLIPWAY_DEFAULT_NOTIFY"))
    #: name of a webhook secret → the hosts that it is for; no entry for a secret that is for any host
    secret_hosts: Mapping[str, frozenset[str]]
    #: where messages for people go, by name
    channels: Mapping[str, Channel]
    urls: UrlPolicy
    limits: Limits
    completion: Defaults

    def is_over(self, wait: WaitKind, due: datetime, now: datetime, planned: timedelta | None = None) -> bool:
        """Whether a wait is over: it is due, or a wrong clock wrote its time, which is too far ahead.

        `planned`: how long this one was to take, where that is known; clocks may differ by an hour then.
        """
        return (
            is_over(due, now, self.longest(wait)) if planned is None else Planned(due, planned).is_over(now)
        )

    def longest(self, wait: WaitKind) -> timedelta:
        """The longest that any wait of this kind takes."""
        return self._longest_waits[wait]

    @property
    def longest_delivery_wait(self) -> timedelta:
        """That of an event in the outbox, where the sweeper looks a little later than the message."""
        return self.longest(WaitKind.EVENT)

    @cached_property
    def _longest_waits(self) -> Mapping[WaitKind, timedelta]:
        job = max(LONGEST_JOB_WAIT, timedelta(seconds=max(self.lost_after, self.submit_lease)))
        delivery = self.schedule.longest_wait + timedelta(seconds=self.deliver_grace)
        idle = timedelta(seconds=max(self.idle_gpus, self.idle_log, self.idle_grace)) + SKEW
        return {
            WaitKind.SLOT: LONGEST_SLOT + LATE,
            WaitKind.ROOM: timedelta(),
            WaitKind.ATTEMPT: job,
            WaitKind.SUBMISSION: job,
            WaitKind.EVIDENCE: job,
            WaitKind.TRY: delivery,
            WaitKind.EVENT: delivery,
            WaitKind.IDLE_CHECK: idle,
            WaitKind.WARNING: idle,
            # Last-Modified has whole seconds: a file may be up to a second younger than it says.
            WaitKind.NOTE: timedelta(seconds=self.drop_patience),
            WaitKind.SETTLE: timedelta(seconds=self.settle + 1),
        }
