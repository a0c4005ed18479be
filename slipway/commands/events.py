"""`slipway events`: the events of jobs and their deliveries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from slipway.commands.asking import asking, asking_about, show, showing
from slipway.commands.help_groups import teaching
from slipway.commands.options import LOCAL, JobId, Json, Key, Url, Utc
from slipway.failure import finding_out
from slipway.terminal.screen import table
from slipway.terminal.times import moment

if TYPE_CHECKING:
    from slipway.client.service import Service

app = typer.Typer(
    name="events",
    help="Inspect and redeliver webhook events.",
    no_args_is_help=True,
    cls=teaching("list"),
)


@app.command("list")
def list_(job: JobId, utc: Utc = False, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """List a job's events with every delivery: receiver, time, answer, duration."""

    async def ask(api: Service, job_id: str) -> int:
        show(await api.events(job_id), partial(rows, utc=utc), as_json=as_json)
        return 0

    raise typer.Exit(asking_about(job, ask, url, key))


@app.command()
def redeliver(
    what: Annotated[
        str, typer.Argument(metavar="ID|JOB", help="one event, evt_…, or all events of a job, j_…")
    ],
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Send events again, whether or not they were delivered, with the same ids and the same bytes."""
    raise typer.Exit(showing(lambda api: api.redeliver(what), _redelivered, url, key, as_json=as_json))


@app.command("test")
def try_(
    receiver: Annotated[str, typer.Argument(metavar="URL", help="URL of a receiver, or channel:NAME")],
    secret: Annotated[str, typer.Option(help="name of a configured secret  [default: default]")] = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Send a test event. A receiver that accepts it is enabled again if a 410 had disabled it.

    The exit code is 1 if the receiver does not accept it, and 125 where no answer says so.
    """

    async def ask(api: Service) -> int:
        answer = await api.test_receiver(receiver, secret)
        show(answer, _tested, as_json=as_json)
        return int(answer["outcome"] != "delivered")

    with finding_out():
        raise typer.Exit(asking(ask, url, key))


@app.command()
def disabled(utc: Utc = False, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """List the receivers that are disabled because they answered 410."""
    receivers = partial(_disabled_rows, utc=utc)
    raise typer.Exit(showing(lambda api: api.disabled_receivers(), receivers, url, key, as_json=as_json))


def _redelivered(events: Sequence[str]) -> list[str]:
    return [f"{one}  goes out again" for one in events]


def _tested(answer: Mapping[str, Any]) -> list[str]:
    return [f"{answer['outcome']}: {answer['said']} in {answer['ms']} ms"]


def _disabled_rows(receivers: Sequence[Mapping[str, Any]], *, utc: bool) -> list[str]:
    if not receivers:
        return ["no address is disabled"]
    rows = [(moment(one["since"], utc=utc), one["url"], one["why"]) for one in receivers]
    return table([("since", "address", "why"), *rows])


def rows(events: Sequence[Mapping[str, Any]], *, utc: bool = False) -> list[str]:
    """Events as a table of tries."""
    lines = [
        (event["id"], event["type"].split(".")[-2], delivery["url"], *line)
        for event in events
        for delivery in event["targets"]
        for line in _tries(delivery, utc=utc)
    ]
    if not lines:
        return ["this job does not have a receiver"]
    return table([("event", "state", "to", "is", "when", "ms", "said"), *lines])


class _Try(NamedTuple):
    """A row of the table, ready to print. Only the last try has the delivery's state."""

    state: str
    when: str
    ms: str
    answer: str


def _tries(delivery: Mapping[str, Any], *, utc: bool) -> list[_Try]:
    last = len(delivery["tries"]) - 1
    tried = [
        _Try(
            delivery["state"] if number == last else "",
            moment(one["at"], utc=utc),
            str(one["ms"]),
            str(one["status"] or one["said"]),
        )
        for number, one in enumerate(delivery["tries"])
    ]
    return tried or [_Try(delivery["state"], "", "", delivery["last"])]
