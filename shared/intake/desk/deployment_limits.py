"""The limits of a deployment and its clusters on one request: resources, node-hours and size."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from datetime import timedelta

from shared.core.cost.prices import currency_of, matching
from shared.core.cost.usage import Rate
from shared.core.engine import Cluster
from shared.core.errors import Misconfigured
from shared.core.facts import ALL, NO_FACTS
from shared.core.policy import Policy
from shared.core.ports import Engines, Ports
from shared.core.refusals import refused
from shared.core.relations.claim import Claim
from shared.core.teams.use import exceeds
from shared.intake.message import Request
from shared.jobspec import (
    JobSpec,
    JsonObject,
    Limits,
    Problem,
    hold_length,
    iso_duration,
    problem,
    wall_clock,
)

#: UTF-16 characters of a document that fit into one row of the ledger (1 MiB) beside its other columns; and
#: the factor by which sealing can lengthen a document at most.
_LONGEST, _MOST_GROWTH = 500_000, 20


@dataclass(frozen=True)
class Demand:
    """The demand of a job on its cluster: GPUs of all nodes together, as far as they are known."""

    nodes: int
    gpus: int
    #: of each node
    part: float
    #: whether it shares its nodes
    shares: bool
    #: None if no price is known
    rate: Rate | None
    #: the longest time for which it may run
    hours: float

    @property
    def claim(self) -> Claim:
        """Its claim on its team's quota, and its highest possible use."""
        cost = self.rate.per_hour * self.hours if self.rate else None
        return Claim(nodes=self.nodes, gpus=self.gpus, gpu_hours=self.gpus * self.hours, cost=cost)


def demand_of(policy: Policy, document: JsonObject, cluster: Cluster) -> Demand:
    """The demand of a completed document.

    Of a node that it shares, it counts with the part that the scheduler gives it; with all of it if that is
    not known.
    """
    properties, facts = document["properties"], cluster.facts
    gpus, part = facts.allotted.gpus, facts.allotted.part or 1.0
    nodes = int(properties["nodeCount"])
    each = (facts.gpus or 0) * part if gpus is None else gpus
    limit = (properties.get("constraints") or {}).get("maxWallClockTime")
    return Demand(
        nodes,
        math.ceil(round(nodes * each, 6)),  # fifths of a GPU add up to whole ones
        part,
        facts.allotted != ALL,
        _rate(policy, cluster, nodes * part),
        wall_clock(limit, facts.longest) / timedelta(hours=1),
    )


def _rate(policy: Policy, cluster: Cluster, nodes: float) -> Rate | None:
    """The price of an hour on this many nodes; the highest one where the prices give a range."""
    facts, currency = cluster.facts, currency_of(policy.prices)
    region = policy.region or facts.region
    rows = matching(policy.prices, facts.size, facts.priority, region, cluster=cluster.name)
    each = [row.per_hour for row in rows if row.currency == currency]
    return Rate(per_hour=nodes * max(each), currency=currency) if each else None


def refused_on(
    ports: Ports, request: Request, document: JsonObject | None, cluster: Cluster
) -> tuple[Problem, ...]:
    """Problems of what a request asks for beside its document, on its cluster; and of its team's quota."""
    return (
        *not_allotted(ports.engines, request, cluster),
        *not_shared(request, cluster),
        *over_quota(ports.policy, request, document, cluster),
        *not_held(ports.policy, ports.engines, request, cluster),
    )


def over_quota(
    policy: Policy, request: Request, document: JsonObject | None, cluster: Cluster
) -> tuple[Problem, ...]:
    """Problems of a job that exceeds its team's quota by itself, and would wait forever."""
    quota = request.share.quota
    if quota is None or document is None:
        return ()
    try:
        claim = demand_of(policy, document, cluster).claim
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return ()  # nodeCount, or what it is beside, is reported already
    over = exceeds(claim, quota)
    if not over:
        return ()
    pointer = f"{request.pointer}{request.properties}/nodeCount"
    message = f'the team "{request.share.team}" may not run it: {over}'
    remedy = ""
    if quota.needs_price and claim.cost is None:
        remedy = "ask the operator to add it to SLIPWAY_PRICES, or use another cluster"
    return (refused("SW119", pointer, message, remedy),)


def not_shared(request: Request, cluster: Cluster) -> tuple[Problem, ...]:
    """A problem for a cluster that the job's team may not use, at the place where the request names it."""
    allowed = request.share.clusters
    if allowed is None or cluster.name in allowed:
        return ()
    named = request.envelope.cluster is not None
    pointer = f"{request.envelope_at}/cluster" if named else f"{request.pointer}{request.properties}/cluster"
    message = f'the team "{request.share.team}" may not use the cluster {cluster.name}'
    names = ", ".join(sorted(allowed))
    remedy = f"use one of its clusters: {names}" if names else "ask the operator to give it one"
    return (refused("SW113", pointer, message, remedy),)


def limits_of(policy: Policy, request: Request, *, brings_folder: bool) -> Limits:
    """The limits of a request: its team may mount what is the team's own, and no other team's drops.

    `brings_folder`: whether it is a drop whose folder takes the place of the mount.
    """
    limits, share = policy.limits, request.share
    if limits.mountable is None:
        return limits
    mountable = limits.mountable | (share.containers if share.team else {policy.drop_container})
    if brings_folder:
        return replace(limits, mountable=mountable | {policy.drop_container})
    return replace(limits, mountable=mountable, teams_drops=policy.drop_container if share.team else "")


def not_allotted(engines: Engines, request: Request, cluster: Cluster) -> tuple[Problem, ...]:
    """A problem for each of the `resources` that the cluster does not offer."""
    resources = request.envelope.resources
    if resources is None:
        return ()
    try:
        problems = engines.get(cluster.engine).allots(cluster.name, resources.as_written())
    except Misconfigured:
        return ()  # reported for the cluster itself
    return tuple(one.relocate(request.envelope_at) for one in problems)


def not_held(policy: Policy, engines: Engines, request: Request, cluster: Cluster) -> tuple[Problem, ...]:
    """A problem for a job that wants its nodes for longer than it may, or where they cannot be kept."""
    length, at = hold_length(request.envelope.hold), f"{request.envelope_at}/hold"
    if not length:
        return ()
    try:
        ability = engines.get(cluster.engine).capabilities(cluster.name)["hold"]
    except Misconfigured:
        return ()  # reported for the cluster itself
    if ability.answer == "no":
        text = f"the nodes of {cluster.name} cannot be kept after a failure: {ability.note}"
        return (refused("SW109", at, text, "leave out hold, or choose another cluster"),)
    of_team = request.share.hold
    most = policy.max_hold if of_team is None else min(policy.max_hold, of_team)
    if length <= most:
        return ()
    whose = "this deployment" if most == policy.max_hold else f'the team "{request.share.team}"'
    text = f"hold is {iso_duration(length)}, and {whose} allows {iso_duration(most)}"
    remedy = f"write at most {iso_duration(most)}" if most else "leave out hold, or ask the operator for it"
    return (refused("SW110" if most == policy.max_hold else "SW119", at, text, remedy),)


def over_limits(spec: JobSpec, limits: Limits, cluster: Cluster | None) -> list[Problem]:
    """Compare a job with the node-hours that the deployment allows, and with the nodes of its cluster."""
    return [*_too_long(spec, limits, cluster), *_too_many(spec, cluster)]


def _too_long(spec: JobSpec, limits: Limits, cluster: Cluster | None) -> list[Problem]:
    """Compare the node-hours that a job can use at most with the limit of the deployment."""
    constraints = spec.properties.constraints
    written = constraints.max_wall_clock_time if constraints else None
    nodes, length = (
        spec.properties.node_count,
        wall_clock(written, cluster.facts.longest if cluster else None),
    )
    hours = nodes * (length / timedelta(hours=1))  # a timedelta overflows long before a float does
    if nodes > limits.max_nodes or hours <= limits.max_node_hours:
        return []  # more nodes than allowed are reported already
    how_long = iso_duration(length) + ("" if written else " (the job names no time)")
    message = f"{nodes} nodes for {how_long} are {hours:g} node-hours; {limits.max_node_hours:g} are allowed"
    return [refused("SW110", "/properties/nodeCount", message)]


def _too_many(spec: JobSpec, cluster: Cluster | None) -> list[Problem]:
    """Refuse more nodes than the cluster can ever have, where its scheduler lists all of them."""
    facts = cluster.facts if cluster else NO_FACTS
    if cluster is None or not facts.lists_all or facts.max_nodes is None:
        return []
    nodes, most = spec.properties.node_count, facts.max_nodes
    most_text = "1 node" if most == 1 else f"{most} nodes"
    message = f"{cluster.name} has at most {most_text} for a job, and {nodes} are requested"
    return (
        [refused("SW109", "/properties/nodeCount", message, f"write at most {most}")] if nodes > most else []
    )


def too_large(request: Request, sealed: JsonObject) -> list[Problem]:
    """Refuse a document that does not fit into the ledger once it is sealed.

    Many short secrets make it several times as long.
    """
    if request.text is not None and len(request.text.data) * _MOST_GROWTH <= _LONGEST:
        return []
    text = json.dumps(sealed, ensure_ascii=False, separators=(",", ":"))
    characters = len(text.encode("utf-16-le", "surrogatepass")) // 2
    if characters <= _LONGEST:
        return []
    message = (
        f"completed, and with its secrets sealed, it has {characters} characters; {_LONGEST} can be kept"
    )
    return [problem("SW001", "", message)]
