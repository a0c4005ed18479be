"""`slipway setup`: creates the resources of a deployment that the settings name; safe to repeat."""

import asyncio
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from shared.core.errors import Misconfigured
from slipway.client.deployment import sourced_settings
from slipway.client.storage.account import refuse_name
from slipway.failure import USAGE, Failure
from slipway.stack.cluster_file import cluster_from
from slipway.stack.provision import Plan, Step, provision
from slipway.terminal.screen import put, put_json

_PRIORITIES = ("lowpriority", "dedicated")


def run(
    settings_file: Path | None,
    plan: Plan,
    ssh_key: Path | None,
    cluster: Path | None,
    *,
    as_json: bool = False,
) -> int:
    """Create what is missing, and show each resource. Raises Failure."""
    refuse_name("--data-container", plan.data)
    refuse_name("--share", plan.share, "share")
    settings, where = sourced_settings("", settings_file)
    try:
        settings.check()
    except Misconfigured as error:
        raise Failure(f"{where}: {error}") from error
    if not as_json:
        put(f"settings: {where}")
    whole = complete_plan(plan, ssh_key, cluster_from(cluster, settings) if cluster else None)

    async def create() -> None:
        async for step in provision(settings, whole):
            if as_json:
                put_json(asdict(step), indent=None)
            else:
                put(line(step))

    asyncio.run(create())
    return 0


def complete_plan(plan: Plan, ssh_key: Path | None, cluster: dict[str, object] | None) -> Plan:
    """The plan, completed from the files. Raises Failure for an impossible one."""
    from dataclasses import replace

    if plan.priority not in _PRIORITIES:
        raise Failure(f"--priority is {' or '.join(_PRIORITIES)}, not {plan.priority!r}", USAGE)
    if not 0 <= plan.minimum <= plan.maximum or plan.maximum < 1:
        raise Failure(
            f"--min-nodes {plan.minimum} and --max-nodes {plan.maximum} do not fit: "
            "the maximum is at least 1, and the minimum is not above it"
        )
    key = ""
    if ssh_key is not None:
        try:
            key = ssh_key.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(
                f"--ssh-key {ssh_key}: cannot be read; name a public key, e.g. id_rsa.pub"
            ) from error
        if not key.startswith(("ssh-", "ecdsa-")):
            raise Failure(f"--ssh-key {ssh_key}: is not a public key; name the file that ends in .pub")
    return replace(plan, ssh_key=key, cluster=cluster)


def line(step: Step) -> str:
    """A line about one resource."""
    return f"  {step.kind:<10} {step.name:<24} {_state(step)}"


def by_kind(steps: Iterable[Step]) -> list[str]:
    """The existing resources, a line for each kind."""
    kinds: dict[str, list[Step]] = {}
    for step in steps:
        kinds.setdefault(step.kind, []).append(step)
    return [
        f"{kind} {', '.join(step.name for step in same)}: {', '.join(dict.fromkeys(map(_state, same)))}"
        for kind, same in kinds.items()
    ]


def _state(step: Step) -> str:
    if step.note:
        return step.note
    return "created" if step.created else "was there"
