"""Which webhook secret signs the events of a job for an address. Pure.

It is asked when a job is accepted, and again when an event is signed: teams and settings change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from shared.core.notify.webhook_url import host_of

#: The name of the secret for receivers that name none.
DEFAULT = "default"


class Secrets(Protocol):
    """The webhook secrets of a deployment, by name; the policy has their hosts, and its own receivers."""

    @property
    def secrets(self) -> Mapping[str, tuple[str, ...]]: ...  # noqa: D102

    @property
    def policy(self) -> Any: ...  # noqa: D102


def why_unsigned(ports: Secrets, name: str, url: str, of_others: Collection[str] = ()) -> str | None:
    """Why no event of a job is signed by this secret for that address; None if it is.

    `of_others`: the secrets of teams that the job is not in. Such a name is as unknown as one that does not
    exist, so the names of others stay unknown. The deployment's default receivers are for every job.
    """
    if name not in ports.secrets or (name in of_others and not _is_default(ports, name, url)):
        return f"there is no webhook secret named {name!r} for jobs of this team"
    hosts = ports.policy.secret_hosts.get(name)
    if hosts is not None and host_of(url) not in hosts:
        return f"the webhook secret {name!r} is not for this address"
    return None


def _is_default(ports: Secrets, name: str, url: str) -> bool:
    receivers = ports.policy.default_notify
    return any(one.get("url") == url and (one.get("secret") or DEFAULT) == name for one in receivers)
