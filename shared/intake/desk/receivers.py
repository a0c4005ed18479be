"""The receivers of a job: those that its message names, or the default ones of the deployment. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shared.core.errors import Misconfigured
from shared.core.job import Receiver
from shared.core.notify.channels import why_closed
from shared.core.notify.webhook_url import DEFAULT, hides, refusal, safe_url, why_unsigned
from shared.core.ports import Ports
from shared.core.refusals import refused
from shared.core.teams.share import NO_TEAM, Share
from shared.jobspec import Problem, RequestedReceiver, channel_of

if TYPE_CHECKING:
    from shared.intake.message import Request


class Receivers(NamedTuple):
    """The receivers of a job, and the problems of refused ones."""

    receivers: tuple[Receiver, ...]
    problems: tuple[Problem, ...]


def receivers_of(ports: Ports, request: Request, key: str) -> Receivers:
    """The receivers that it names, or the default ones, and the problems of refused ones.

    Secret addresses are sealed.
    """
    entries = request.envelope.notify or tuple(
        RequestedReceiver.model_validate(s) for s in ports.policy.default_notify
    )
    receivers: list[Receiver] = []
    problems: list[Problem] = []
    for index, receiver in enumerate(entries):
        at = f"/notify/{index}"
        problem = _refused(ports, receiver, at, request.share)
        if problem is not None:
            problems.append(problem.relocate(request.envelope_at))
            continue
        if channel_of(receiver.url):
            receivers.append(Receiver(url=receiver.url, events=tuple(receiver.events)))
            continue
        context = f"{key}{at}" if hides(receiver.url) else ""
        receivers.append(
            Receiver(
                url=safe_url(receiver.url),
                secret=receiver.secret or DEFAULT,
                sealed=ports.seal.seal(receiver.url, context) if context else None,
                context=context,
                events=tuple(receiver.events),
            )
        )
    return Receivers(tuple(receivers), tuple(problems))


def check_default_notify(ports: Ports) -> None:
    """Raise Misconfigured for a default receiver that no job could use: a job's author cannot correct it."""
    for index, one in enumerate(ports.policy.default_notify):
        problem = _refused(ports, RequestedReceiver.model_validate(one), f"/{index}")
        if problem is not None:
            raise Misconfigured(f"SLIPWAY_DEFAULT_NOTIFY: {problem.pointer}: {problem.message}")


def _refused(
    ports: Ports, receiver: RequestedReceiver, pointer: str, share: Share = NO_TEAM
) -> Problem | None:
    if channel_of(receiver.url):
        why = why_closed(ports.policy, receiver.url, share.team)
        return None if why is None else refused("SW104", f"{pointer}/url", why)
    of_others = share.secrets_of_others
    why = refusal(receiver.url, ports.policy.urls)
    if why is not None:
        return refused("SW103", f"{pointer}/url", f"webhook address refused: {why}")
    if (why := why_unsigned(ports, receiver.secret or DEFAULT, receiver.url, of_others)) is not None:
        return refused("SW104", f"{pointer}/secret", why)
    if hides(receiver.url) and not ports.seal.available:
        return refused(
            "SW102", f"{pointer}/url", "an address with a path may hold a secret, and no key can seal it"
        )
    return None
