"""The composition root: the only module of the app that names adapters."""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from uuid import uuid4

from shared.adapters.logs import write_json_lines
from shared.adapters.ssh_certificates import certificates_of
from shared.configured import ConfiguredEngines
from shared.core.account import is_apps_own
from shared.core.caller import NamedKeys, Tokens
from shared.core.cost.prices import prices_from
from shared.core.engine import Cluster
from shared.core.errors import Misconfigured
from shared.core.meter import Meter, NoMeter
from shared.core.policy import SETTING, Policy
from shared.core.ports import Addresses, Engines, Ports
from shared.core.trouble import Troubles
from shared.jobspec import Defaults, Limits
from shared.setting_table.functions_off import functions_off
from shared.settings import Settings

if TYPE_CHECKING:
    from shared.adapters.storage.sharded_table import ShardedTable
    from shared.adapters.storage.wire.connection import Account, Connection

T = TypeVar("T")
log = logging.getLogger(__name__)

__all__ = ["build", "log_faults", "meter_of", "policy_of", "write_json_lines"]


def build(settings: Settings, meter: Meter | None = None) -> Ports:
    """Ports over Azure Storage and the configured engines. Raises Misconfigured with the setting's name.

    Nothing is connected, and nothing of the process is changed.
    """
    settings.check()
    engines = ConfiguredEngines(settings)
    policy = _checked(policy_of(settings, engines.clusters))
    ports = _ports(settings, engines, policy, meter or NoMeter())
    if policy.default_notify:
        from shared.intake.desk.receivers import check_default_notify

        check_default_notify(ports)
    return ports


def log_faults(settings: Settings) -> None:
    """Log the clusters on which no job can run: those of an app, since a caller's settings may name none."""
    for name, why in ConfiguredEngines(settings).faults().items():
        log.error("no job can run on the cluster %s, and those for it are refused: %s", name, why)


def _ports(settings: Settings, engines: Engines, policy: Policy, meter: Meter) -> Ports:
    from shared.adapters.sealing import AesSeal
    from shared.adapters.storage.activity import BlobActivity
    from shared.adapters.storage.archive import BlobArchive
    from shared.adapters.storage.drops import BlobDrops
    from shared.adapters.storage.queues import StorageQueues
    from shared.adapters.storage.snapshots import BlobSnapshots
    from shared.adapters.storage.tables import tables
    from shared.adapters.storage.wire.connection import Account, Connection
    from shared.adapters.webhook.channels import ChannelSender
    from shared.adapters.webhook.sender import WebhookSender

    webhooks = WebhookSender(policy.urls)
    account = Account(connection := Connection(*settings.connection(), settings.text("AZURE_CLIENT_ID")))
    troubles = Troubles(_now)
    answers, archive, snapshots = _written_containers(settings, policy.drop_container)
    return Ports(
        **tables(_store(settings, account, troubles))._asdict(),
        archive=BlobArchive(account, archive),
        activity=BlobActivity(account, archive),
        drops=BlobDrops(account, policy.drop_container, answers, settings.names("SLIPWAY_SPEC_CONTAINERS")),
        snapshots=BlobSnapshots(account, connection, snapshots, _now),
        queues=StorageQueues(account),
        webhooks=webhooks,
        channels=ChannelSender(webhooks, policy.channels, settings.page()),
        engines=engines,
        seal=AesSeal(settings.names("SLIPWAY_SEAL_KEY")),
        policy=policy,
        **_MACHINE,
        secrets=_secrets(settings),
        account_keys=_account_keys(settings),
        tokens=_tokens(settings),
        keys=_keys(settings),
        certificates=certificates_of(settings.text("SLIPWAY_ENTER_CA")),
        addresses=_addresses(settings, account, connection),
        meter=meter,
        troubles=troubles,
        client_settings=_client_settings(settings, connection),
        functions_off=functions_off(settings.values),
    )


def _store(settings: Settings, account: Account, troubles: Troubles) -> ShardedTable:
    from shared.adapters.storage.sharded_table import ShardedTable
    from shared.adapters.storage.wire.resttable import RestTable

    rows = RestTable(account, settings.text("SLIPWAY_LEDGER_TABLE"))
    return ShardedTable(rows, settings.whole("SLIPWAY_SHARDS"), troubles=troubles, owner=settings.owner())


def _account_keys(settings: Settings) -> dict[str, str]:
    name, key = settings.account()
    return {name: key} if key else {}


def _client_settings(settings: Settings, connection: Connection) -> dict[str, str]:
    """Where clients send files. Its address helps only those with a role or a key."""
    services = ("blob", "queue", "table")
    addresses = {f"SLIPWAY_STORAGE__{one}ServiceUri": connection.address(one) for one in services}
    return addresses | settings.client_settings()


class _Written(NamedTuple):
    """The containers that the app writes into."""

    answers: str
    archive: str
    snapshots: str


#: The settings of these.
_WRITTEN = ("SLIPWAY_RECEIPTS_CONTAINER", "SLIPWAY_ARCHIVE_CONTAINER", "SLIPWAY_SNAPSHOTS_CONTAINER")


def _written_containers(settings: Settings, drops: str) -> _Written:
    """The containers of receipts, of the archive and of code: each another one, and none that of drops."""
    written = _Written(*map(settings.text, _WRITTEN))
    for name in written:
        which = " and ".join(one for one, other in zip(_WRITTEN, written, strict=True) if other == name)
        if name == drops:
            raise Misconfigured(f"{which} must not be {drops}: what is written there could start jobs")
        if written.count(name) > 1:
            raise Misconfigured(f"{which} must not be the same: what is old is deleted from each")
    return written


def _now() -> datetime:
    return datetime.now(UTC)


_MACHINE: Any = {"clock": _now, "pause": asyncio.sleep, "jitter": random.random, "token": lambda: uuid4().hex}


def _checked(policy: Policy) -> Policy:
    """The policy. A setting in it that cannot be used is reported now, not at a later invocation."""
    from shared.core.notify.cloudevents import cloud_event

    try:
        cloud_event(id="x", source=policy.source, type="x", subject="x", time=datetime.now(UTC), data={})
    except ValueError:
        raise Misconfigured("SLIPWAY_SOURCE must be a URI, e.g. urn:slipway:production") from None
    if not policy.default_notify:
        return policy
    from shared.jobspec import are_sound

    if are_sound(policy.default_notify, policy.limits.max_receivers):
        return policy
    from shared.jobspec import read_envelope

    _, problems = read_envelope({"notify": [*policy.default_notify]}, drop=True, limits=policy.limits)
    if problems:
        first = problems[0]
        raise Misconfigured(f"SLIPWAY_DEFAULT_NOTIFY: {first.pointer}: {first.message}")
    return policy


def policy_of(settings: Settings, clusters: Mapping[str, Cluster]) -> Policy:
    """The limits and times of the use cases. The first of the clusters is that of jobs that name none."""
    return Policy(
        **{f.name: settings.value(f.metadata[SETTING]) for f in fields(Policy) if SETTING in f.metadata},
        schedule=settings.schedule(),
        retention=settings.retention(),
        own_containers=_own_containers(settings),
        receipts=settings.choice("SLIPWAY_RECEIPTS") == "all",
        prices=_read_document(settings, "SLIPWAY_PRICES", prices_from),
        secret_hosts=_secrets(settings, hosts=True),
        channels=settings.channels(),
        urls=settings.urls(),
        limits=_limits(settings),
        completion=_completion(settings, clusters),
    )


def _completion(settings: Settings, clusters: Mapping[str, Cluster]) -> Defaults:
    """The defaults for what a document leaves out."""
    account, _ = settings.account()
    return Defaults(
        cluster_id=next(iter(clusters.values())).id,
        clusters={name: cluster.id for name, cluster in clusters.items()},
        storage_account=account or None,
        storage_suffix=settings.storage_suffix(),
        drop_container=settings.text("SLIPWAY_DROP_CONTAINER"),
        drop_account=account or None,
        std_out_err_path_prefix=settings.text("SLIPWAY_STDOUT_PREFIX"),
    )


def _limits(settings: Settings) -> Limits:
    return Limits(
        max_bytes=settings.whole("SLIPWAY_MAX_DOCUMENT_BYTES"),
        max_nodes=settings.whole("SLIPWAY_MAX_NODES"),
        max_wall_clock=settings.hours("SLIPWAY_MAX_WALL_CLOCK_HOURS"),
        max_node_hours=settings.number("SLIPWAY_MAX_NODE_HOURS"),
        max_receivers=settings.whole("SLIPWAY_MAX_RECEIVERS"),
        unmanaged_mounts=settings.flag("SLIPWAY_UNMANAGED_MOUNTS"),
        mountable=_mountable(settings),
        all_code=(settings.account()[0], settings.text("SLIPWAY_SNAPSHOTS_CONTAINER")),
    )


def _mountable(settings: Settings) -> frozenset[str]:
    """What jobs may mount with the deployment's key beside drops: nothing in which only the app writes."""
    named, own = settings.containers("SLIPWAY_MOUNTABLE"), _own_containers(settings)
    if apps := [name for name in named if is_apps_own(name, own)]:
        raise Misconfigured(f"SLIPWAY_MOUNTABLE: {apps[0]} is the app's own, and no job gets a key for it")
    return frozenset(named)


def _own_containers(settings: Settings) -> frozenset[str]:
    return frozenset(map(settings.text, _WRITTEN))


def _read_document(settings: Settings, name: str, read: Callable[[Any], T]) -> T:
    try:
        return read(settings.document(name))
    except ValueError as error:
        raise Misconfigured(f"{name}: {error}") from None


def meter_of(settings: Settings) -> Meter:
    """The listener for counts and times; an exporter starts threads and reads the environment."""
    from shared.adapters.telemetry import PHONES_HOME, to_application_insights, to_collector

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
    from shared.adapters.entra import EntraTokens

    tenant, audiences = settings.text("SLIPWAY_TENANT"), settings.names("SLIPWAY_AUDIENCE")
    if not tenant and audiences:
        raise Misconfigured(
            "SLIPWAY_AUDIENCE is set, and SLIPWAY_TENANT is not: any function key would do everything; "
            "set both, or remove both"
        )
    if not tenant:
        return None
    if not audiences:
        raise Misconfigured("SLIPWAY_AUDIENCE is not set: name the application whose tokens are accepted")
    return EntraTokens(settings.text("SLIPWAY_AUTHORITY"), tenant, audiences)


def _keys(settings: Settings) -> NamedKeys | None:
    if settings.document("SLIPWAY_NAMED_KEYS") == {}:
        return None
    from shared.adapters.named_keys import named_keys

    read = partial(named_keys, tokens=bool(settings.text("SLIPWAY_TENANT")))
    return _read_document(settings, "SLIPWAY_NAMED_KEYS", read)


def _addresses(settings: Settings, account: Account, connection: Connection) -> Addresses | None:
    from shared.adapters.storage.addresses import BlobAddresses

    seconds = settings.minutes("SLIPWAY_ADDRESS_MINUTES")
    return BlobAddresses(account, connection, timedelta(seconds=seconds), _now) if seconds else None


def _secrets(settings: Settings, *, hosts: bool = False) -> dict[str, Any]:
    from shared.adapters.webhook.signing import hosts_from, secrets_from

    return _read_document(settings, "SLIPWAY_WEBHOOK_SECRETS", hosts_from if hosts else secrets_from)
