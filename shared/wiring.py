"""The composition root: the only place that names adapters. Built once per process, at the first event."""

from __future__ import annotations

import gc
import logging
import os
import random
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from shared.breaker import Breaker
from shared.configured import ConfiguredEngines
from shared.errors import Misconfigured
from shared.logs import write_json_lines
from shared.meter import Meter, NoMeter
from shared.policy import Policy
from shared.ports import Cluster, Ports, Tokens, Webhooks
from shared.prices import Price, prices_from
from shared.receivers import Receivers
from shared.settings import Settings
from shared.spec import Defaults, Limits
from shared.webhook_url import UrlPolicy

#: What a JSON parser can take without running out of its stack.
_DEEPEST = 500
#: So many new objects make the collector look for cycles among them.
_YOUNG = 50_000
_built: Ports | None = None


def ports() -> Ports:
    """The ports of this process, built from the environment at the first call."""
    global _built  # noqa: PLW0603 - one client per process: connections are kept alive between events
    if _built is None:
        logging.getLogger("azure").setLevel(logging.WARNING)  # its pipelines tell every request at INFO
        settings = Settings(dict(os.environ))
        if settings.flag("SLIPWAY_JSON_LOGS"):
            write_json_lines()
        _built = build(settings)
        _spare_the_collector()
    return _built


def _spare_the_collector() -> None:
    """Most of what an event makes dies with its last reference; looking for cycles cost a twelfth."""
    gc.freeze()
    gc.set_threshold(_YOUNG, 20, 100)


def build(settings: Settings) -> Ports:
    """Ports over Azure Storage and the configured engines. Raises Misconfigured with the setting's name."""
    from shared.sealing import AesSeal
    from shared.storage.archive import BlobArchive
    from shared.storage.connection import Account, Connection
    from shared.storage.dead import TableDeadMessages
    from shared.storage.drops import BlobDrops
    from shared.storage.finished import TableFinishedJobs
    from shared.storage.leases import TableLeases
    from shared.storage.ledger import TableLedger
    from shared.storage.outbox import TableOutbox
    from shared.storage.queues import StorageQueues
    from shared.storage.resttable import RestTable
    from shared.storage.store import Store

    string, blob, queue, table = settings.connection()
    account = Account(Connection(string, blob, queue, table, settings.text("AZURE_CLIENT_ID")))
    engines = ConfiguredEngines(settings)
    policy = _checked(policy_of(settings, engines.clusters))
    rows = RestTable(account, settings.text("SLIPWAY_LEDGER_TABLE"))
    store = Store(rows, settings.count("SLIPWAY_SHARDS"))
    name, key = settings.account()
    answers, kept = settings.text("SLIPWAY_ANSWERS_CONTAINER"), settings.text("SLIPWAY_ARCHIVE_CONTAINER")
    for container, setting in ((answers, "SLIPWAY_ANSWERS_CONTAINER"), (kept, "SLIPWAY_ARCHIVE_CONTAINER")):
        if container == policy.drop_container:
            raise Misconfigured(f"{setting} must not be {container}: what is written there could start jobs")
    made = Ports(
        ledger=TableLedger(store),
        outbox=TableOutbox(store),
        dead=TableDeadMessages(store),
        finished=TableFinishedJobs(store),
        archive=BlobArchive(account, kept),
        leases=TableLeases(store),
        drops=BlobDrops(account, policy.drop_container, answers, settings.names("SLIPWAY_SPEC_CONTAINERS")),
        queues=StorageQueues(account),
        webhooks=_webhooks(settings, policy),
        engines=engines,
        seal=AesSeal(settings.names("SLIPWAY_SEAL_KEY")),
        policy=policy,
        clock=lambda: datetime.now(UTC),
        token=lambda: uuid.uuid4().hex,
        jitter=random.random,
        breaker=_breaker(settings, settings.seconds("SLIPWAY_BREAKER_SECONDS")),
        receivers=Receivers(_breaker(settings, settings.seconds("SLIPWAY_BREAKER_LONGEST_SECONDS"))),
        secrets=_secrets(settings),
        account_keys={name: key} if key else {},
        tokens=_tokens(settings),
        meter=_meter(settings),
    )
    if policy.default_notify:
        from shared.prepare import check_default_notify

        check_default_notify(made)
    return made


def _webhooks(settings: Settings, policy: Policy) -> Webhooks:
    from shared.webhooks import WebhookSender

    return WebhookSender(
        policy.urls,
        per_host=settings.count("SLIPWAY_WEBHOOKS_PER_HOST"),
        at_once=settings.count("SLIPWAY_WEBHOOKS_AT_ONCE"),
        origin=settings.text("SLIPWAY_WEBHOOK_ORIGIN"),
    )


def _breaker(settings: Settings, longest: float) -> Breaker:
    failures, pause = settings.count("SLIPWAY_BREAKER_FAILURES"), settings.seconds("SLIPWAY_BREAKER_SECONDS")
    return Breaker(failures, pause, longest)


def _checked(policy: Policy) -> Policy:
    """The policy, if every setting in it can be used: a wrong one is told now, not at some event."""
    from shared.cloudevents import cloud_event
    from shared.spec import read_envelope

    try:
        cloud_event(id="x", source=policy.source, type="x", subject="x", time=datetime.now(UTC), data={})
    except ValueError:
        raise Misconfigured("SLIPWAY_SOURCE must be a URI, e.g. urn:slipway:production") from None
    _, problems = read_envelope({"notify": list(policy.default_notify)}, drop=True)
    if problems:
        first = problems[0]
        raise Misconfigured(f"SLIPWAY_DEFAULT_NOTIFY: {first.pointer}: {first.message}")
    return policy


def policy_of(settings: Settings, clusters: Mapping[str, Cluster]) -> Policy:
    """The limits and times of the use cases."""
    default = settings.text("SLIPWAY_CLUSTER")
    account, _ = settings.account()
    drops = settings.text("SLIPWAY_DROP_CONTAINER")
    return Policy(
        source=settings.text("SLIPWAY_SOURCE"),
        drop_container=drops,
        settle=settings.seconds("SLIPWAY_SETTLE_SECONDS"),
        message_tries=settings.count("SLIPWAY_MESSAGE_TRIES"),
        dispatch_deadline=settings.seconds("SLIPWAY_DISPATCH_SECONDS"),
        submit_lease=settings.seconds("SLIPWAY_SUBMIT_LEASE_SECONDS"),
        lost_after_misses=settings.whole("SLIPWAY_LOST_MISSES"),
        lost_after=settings.seconds("SLIPWAY_LOST_SECONDS"),
        deliver_grace=settings.seconds("SLIPWAY_DELIVER_GRACE_SECONDS"),
        deliver_batch=settings.count("SLIPWAY_DELIVER_BATCH"),
        deliver_deadline=settings.seconds("SLIPWAY_DELIVER_SECONDS"),
        deliver_patience=settings.seconds("SLIPWAY_DELIVER_PATIENCE_SECONDS"),
        sweep_deadline=settings.seconds("SLIPWAY_SWEEP_SECONDS"),
        ask_deadline=settings.seconds("SLIPWAY_ASK_SECONDS"),
        sweep_parts=settings.parts(),
        inventory_window=settings.window(),
        drop_patience=settings.seconds("SLIPWAY_DROP_PATIENCE_SECONDS"),
        retention=settings.retention(),
        archive_batch=settings.count("SLIPWAY_ARCHIVE_BATCH"),
        archive_deadline=settings.seconds("SLIPWAY_ARCHIVE_SECONDS"),
        max_document=settings.whole("SLIPWAY_MAX_DOCUMENT_BYTES"),
        max_script=settings.whole("SLIPWAY_MAX_SCRIPT_BYTES"),
        paused=settings.flag("SLIPWAY_PAUSED"),
        max_jobs_per_hour=settings.whole("SLIPWAY_MAX_JOBS_PER_HOUR"),
        max_active_jobs=settings.whole("SLIPWAY_MAX_ACTIVE_JOBS"),
        notices=settings.flag("SLIPWAY_NOTICES"),
        receipts=settings.choice("SLIPWAY_RECEIPTS", "drops", "all") == "all",
        rules_url=settings.address("SLIPWAY_RULES_URL"),
        prices=_prices(settings),
        region=settings.text("SLIPWAY_REGION"),
        default_notify=settings.objects("SLIPWAY_DEFAULT_NOTIFY"),
        urls=UrlPolicy(
            ports=settings.ports("SLIPWAY_WEBHOOK_PORTS"),
            allow_loopback=settings.flag("SLIPWAY_WEBHOOK_LOOPBACK"),
            own_hosts=frozenset(settings.names("SLIPWAY_OWN_HOSTS")),
        ),
        limits=_limits(settings),
        completion=Defaults(
            cluster_id=clusters[default].id,
            clusters={name: cluster.id for name, cluster in clusters.items()},
            storage_account=account or None,
            drop_container=drops,
            drop_account=account or None,
            std_out_err_path_prefix=settings.text("SLIPWAY_STDOUT_PREFIX"),
        ),
    )


def _limits(settings: Settings) -> Limits:
    depth = settings.count("SLIPWAY_MAX_DEPTH")
    if depth > _DEEPEST:
        raise Misconfigured(f"SLIPWAY_MAX_DEPTH must be at most {_DEEPEST}")
    return Limits(
        max_bytes=settings.whole("SLIPWAY_MAX_DOCUMENT_BYTES"),
        max_depth=depth,
        max_nodes=settings.whole("SLIPWAY_MAX_NODES"),
        max_wall_clock=timedelta(hours=settings.number("SLIPWAY_MAX_WALL_CLOCK_HOURS")),
        max_node_hours=settings.number("SLIPWAY_MAX_NODE_HOURS"),
        max_receivers=settings.whole("SLIPWAY_MAX_RECEIVERS"),
        unmanaged_mounts=settings.flag("SLIPWAY_UNMANAGED_MOUNTS"),
    )


def _prices(settings: Settings) -> tuple[Price, ...]:
    try:
        return prices_from(settings.document("SLIPWAY_PRICES"))
    except ValueError as error:
        raise Misconfigured(f"SLIPWAY_PRICES: {error}") from None


def _meter(settings: Settings) -> Meter:
    from shared.telemetry import PHONES_HOME, to_application_insights, to_collector

    if url := settings.text("SLIPWAY_OTLP_URL"):
        return to_collector(url)
    if not settings.flag("SLIPWAY_INSIGHTS"):
        return NoMeter()
    if not (connection := settings.text("APPLICATIONINSIGHTS_CONNECTION_STRING")):
        raise Misconfigured("SLIPWAY_INSIGHTS needs APPLICATIONINSIGHTS_CONNECTION_STRING")
    for switch in PHONES_HOME:
        os.environ.setdefault(switch, "true")
    return to_application_insights(connection)


def _tokens(settings: Settings) -> Tokens | None:
    from shared.entra import EntraTokens

    tenant, audiences = settings.text("SLIPWAY_TENANT"), settings.names("SLIPWAY_AUDIENCE")
    if not tenant:
        return None
    if not audiences:
        raise Misconfigured("SLIPWAY_AUDIENCE is not set: name the application whose tokens are taken")
    return EntraTokens(settings.text("SLIPWAY_AUTHORITY"), tenant, audiences)


def _secrets(settings: Settings) -> dict[str, tuple[str, ...]]:
    from shared.signing import secrets_from

    try:
        return secrets_from(settings.document("SLIPWAY_WEBHOOK_SECRETS"))
    except ValueError as error:
        raise Misconfigured(f"SLIPWAY_WEBHOOK_SECRETS: {error}") from None
