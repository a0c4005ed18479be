"""The commands for events: list, redeliver, test, disabled."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from slipway.client.service import Service
from slipway.commands.asking import asking, asking_about, show
from slipway.failure import finding_out
from slipway.terminal.screen import table
from slipway.terminal.times import moment


def list_events(job: str, url: str, key: str, *, utc: bool = False, as_json: bool = False) -> int:
    """Print a line for each try, and for each address without a try."""

    async def ask(api: Service, job_id: str) -> int:
        show(await api.events(job_id), partial(rows, utc=utc), as_json=as_json)
        return 0

    return asking_about(job, ask, url, key)


def redeliver(what: str, url: str, key: str, *, as_json: bool = False) -> int:
    """Send one event, or all events of a job, again."""

    async def ask(api: Service) -> int:
        show(
            await api.redeliver(what), lambda ids: [f"{one}  goes out again" for one in ids], as_json=as_json
        )
        return 0

    return asking(ask, url, key)


def test(receiver: str, secret: str, url: str, key: str, *, as_json: bool) -> int:
    """Returns 0 if the receiver answered 2xx, 1 if it did not. Raises Failure with NOT_KNOWN."""

    async def ask(api: Service) -> int:
        answer = await api.test_receiver(receiver, secret)
        show(answer, _tested, as_json=as_json)
        return int(answer["outcome"] != "delivered")

    with finding_out():
        return asking(ask, url, key)


def _tested(answer: Mapping[str, Any]) -> list[str]:
    return [f"{answer['outcome']}: {answer['said']} in {answer['ms']} ms"]


def disabled(url: str, key: str, *, utc: bool = False, as_json: bool = False) -> int:
    """Print the addresses that answered 410."""

    async def ask(api: Service) -> int:
        show(await api.disabled_receivers(), partial(_disabled_rows, utc=utc), as_json=as_json)
        return 0

    return asking(ask, url, key)


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
