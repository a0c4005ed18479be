"""`slipway pause` and `slipway resume`: whether accepted jobs are submitted."""

from collections.abc import Mapping
from typing import Any

from slipway.client.service import Service
from slipway.commands.asking import asking, show
from slipway.failure import finding_out


def pause(url: str, key: str, reason: str, *, as_json: bool = False) -> int:
    """Stop submissions; jobs are still accepted, and wait."""

    async def ask(api: Service) -> int:
        show(await api.pause(reason), _switch, as_json=as_json)
        return 0

    return asking(ask, url, key)


def resume(url: str, key: str, *, as_json: bool = False) -> int:
    """Resume submissions; 1 while the setting still stops them. Raises Failure with NOT_KNOWN."""

    async def ask(api: Service) -> int:
        answer = await api.resume()
        show(answer, _switch, as_json=as_json)
        return 1 if answer["paused"] else 0

    with finding_out():
        return asking(ask, url, key)


def _switch(answer: Mapping[str, Any]) -> list[str]:
    if not answer["paused"]:
        return ["submissions resume; the next sweep submits the waiting jobs"]
    reason = f": {answer['reason']}" if answer["reason"] else ""
    return [f"submissions are paused by {answer['by']}{reason}"]
