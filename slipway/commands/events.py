"""The commands about events: list, redeliver, test, disabled."""

from collections.abc import Mapping, Sequence
from typing import Any

from slipway.client.service import Service
from slipway.commands.jobs import asking, asking_about, show
from slipway.screen import table


def list_events(job: str, url: str, key: str, *, as_json: bool) -> int:
    """One line for each try, and one for each address that was not tried yet."""

    async def ask(api: Service, job_id: str) -> int:
        show(await api.events(job_id), rows, as_json=as_json)
        return 0

    return asking_about(job, ask, url, key)


def redeliver(what: str, url: str, key: str) -> int:
    """Send one event, or all of a job, once more."""

    async def ask(api: Service) -> int:
        again = await api.redeliver(what)
        print("\n".join(f"{one}  goes out again" for one in again))
        return 0

    return asking(ask, url, key)


def test(receiver: str, secret: str, url: str, key: str) -> int:
    """0 when the receiver answered 2xx."""

    async def ask(api: Service) -> int:
        answer = await api.test_receiver(receiver, secret)
        print(f"{answer['outcome']}: {answer['said']} in {answer['ms']} ms")
        return int(answer["outcome"] != "delivered")

    return asking(ask, url, key)


def disabled(url: str, key: str) -> int:
    """The addresses that said 410."""

    async def ask(api: Service) -> int:
        receivers = await api.disabled_receivers()
        lines = table(
            [("since", "address", "why"), *((_time(r["since"]), r["url"], r["why"]) for r in receivers)]
        )
        print("\n".join(lines) if receivers else "no address is disabled")
        return 0

    return asking(ask, url, key)


def rows(events: Sequence[Mapping[str, Any]]) -> list[str]:
    """Events as a table of tries."""
    lines = [
        (event["id"], event["type"].split(".")[-2], target["url"], *line)
        for event in events
        for target in event["targets"]
        for line in _tries(target)
    ]
    if not lines:
        return ["this job has no receiver"]
    return table([("event", "state", "to", "is", "when", "ms", "said"), *lines])


def _tries(target: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    last = len(target["tries"]) - 1
    tried = [
        (
            target["state"] if number == last else "",
            _time(one["at"]),
            str(one["ms"]),
            str(one["status"] or one["said"]),
        )
        for number, one in enumerate(target["tries"])
    ]
    return tried or [(target["state"], "", "", target["last"])]


def _time(text: str) -> str:
    return text[:19].replace("T", " ")
