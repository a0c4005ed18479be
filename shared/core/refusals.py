"""Problems that only a deployment can find in a request: SW101 and up. The format's own are in `jobspec`."""

from __future__ import annotations

from typing import NamedTuple

from shared.core.errors import Misuse
from shared.jobspec import JsonObject, Problem, Severity


class Refusal(NamedTuple):
    """The title of a code, and the remedy if the finder has no better one."""

    title: str
    remedy: str
    severity: Severity = "error"


REFUSALS: dict[str, Refusal] = {
    "SW101": Refusal("cluster not usable", "ask the operator of this deployment"),
    "SW102": Refusal(
        "secret cannot be kept",
        "use a Key Vault reference, or set SLIPWAY_SEAL_KEY on the deployment",
    ),
    "SW103": Refusal("webhook address refused", "give a public https address"),
    "SW104": Refusal(
        "webhook secret or channel not possible",
        "name a channel, or a secret for this address, of the job's team; an operator knows the names",
    ),
    "SW105": Refusal(
        "several scripts for a template",
        "name the script in the template: <SLIPWAY_SCRIPT:train*.py>",
    ),
    "SW106": Refusal("specBlob not readable", "upload it first, into a container for specs, then send again"),
    "SW107": Refusal("file too large", "make it smaller; put data into a mounted container"),
    "SW108": Refusal("idempotency key taken", "send the same document again, or choose a new key"),
    "SW109": Refusal("cluster cannot do this", "choose another cluster, or do without"),
    "SW110": Refusal(
        "more than the deployment allows", "lower nodeCount, or write a shorter maxWallClockTime or hold"
    ),
    "SW111": Refusal(
        "document could not be judged",
        "report this defect of Slipway with the document; the log of the deployment has the details",
    ),
    "SW112": Refusal(
        "job to wait for not known", "name a job that was accepted already, by its id or its name"
    ),
    "SW113": Refusal("team not possible", "name a team that you are in, or leave it out"),
    "SW114": Refusal(
        "file in the archive tier",
        "move it to the hot or cool tier (up to 15 hours), and send the job again once it is there",
        "warning",
    ),
    "SW115": Refusal(
        "key not used in a drop",
        "remove it; a folder runs again when its job file or script changes, or is uploaded again",
        "warning",
    ),
    "SW117": Refusal(
        "folder not possible as a drop", "send it by `slipway run`, and data by `slipway data put`"
    ),
    "SW118": Refusal(
        "files left out of a drop",
        "give them other names and places, and upload the folder again, or send it by `slipway run`",
        "warning",
    ),
    "SW119": Refusal(
        "more than the team may have",
        "ask for fewer nodes or a shorter maxWallClockTime, or ask the operator for more",
    ),
    "SW116": Refusal("code not there", "send the code again, then the same request"),
}


def gives_none(engine: str, resources: JsonObject) -> tuple[Problem, ...]:
    """The answer of an engine whose jobs always get whole nodes."""
    text = f"clusters of {engine} give whole nodes, and nothing else can be asked of them"
    return tuple(refused("SW109", f"/resources/{name}", text, f"remove {name}") for name in resources)


def refused(code: str, pointer: str, message: str, remedy: str = "") -> Problem:
    """A problem; without a given remedy, it has the code's own."""
    refusal = REFUSALS[code]
    return Problem(code, pointer, message, remedy or refusal.remedy, refusal.severity)


class KeyTaken(Misuse):
    """The error of a request whose key belongs to something else."""


def key_taken(by: str) -> KeyTaken:
    """The refusal of a request whose key was used for another payload."""
    return KeyTaken(
        f"the idempotency key was used for another payload; it belongs to {by}",
        status=422,
        remedy="send the same document again, or choose a new key",
    )


def key_claimed(by: str) -> KeyTaken:
    """The refusal of a request whose key another request took while this one was processed."""
    return KeyTaken(
        f"the idempotency key is claimed by another request; it belongs to {by}",
        status=409,
        remedy="choose a new key",
    )
