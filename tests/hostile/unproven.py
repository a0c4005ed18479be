"""What a job can write in the place of a turn or a record that only the program on the nodes may write.

It has no key, but all that the program ever wrote there, for this attempt or another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from shared.engines.node.proof import Proof
from shared.engines.proofs import Proofs

#: The deployment's, and the keys of the attempt that is forged.
PROOFS = Proofs(("the secret of the deployment",))
TOKEN = "t.1"
OWN = PROOFS.proof_of(TOKEN)

#: What a job wants.
SUCCESS: Mapping[str, Any] = {
    "version": 1,
    "token": TOKEN,
    "run": "7-0",
    "state": "ended",
    "reason": "",
    "message": "",
    "final": True,
    "code": 0,
    "exitCode": 0,
    "started": "2026-11-22T02:48:00Z",
    "ended": "2026-11-22T02:48:59Z",
}


def _plain(value: Mapping[str, Any]) -> bytes:
    return Proof().text("", dict(value))


def _with_line(text: bytes, line: bytes) -> bytes:
    """The text with a line after its proof."""
    first, proof, rest = text.split(b"\n", 2)
    return b"\n".join((first, proof, line, rest))


#: Each way: the text for an object of that name and value.
FORGERIES: Mapping[str, Callable[[str, dict[str, Any]], bytes]] = {
    "without a proof": lambda name, value: _plain(value),
    "with an empty proof": lambda name, value: _plain({"proof": "", **value}),
    "with zeros for a proof": lambda name, value: _plain({"proof": "0" * 64, **value}),
    "with a key of its own": lambda name, value: Proof(("ab" * 32,)).text(name, value),
    "of the attempt before": lambda name, value: PROOFS.proof_of("t.0").text(name, value),
    "of another job": lambda name, value: PROOFS.proof_of("j_other.1").text(name, value),
    "of another deployment": lambda name, value: Proofs(("another",)).proof_of(TOKEN).text(name, value),
    "of another turn": lambda name, value: OWN.text("turns/77", value),
    "of another run": lambda name, value: OWN.text("6-0/result.json", value),
    "of the claim": lambda name, value: OWN.text("claim.json", value),
    "cut short": lambda name, value: OWN.text(name, value)[:-3],
    "with a member more": lambda name, value: _with_line(OWN.text(name, {"x": 1}), b' "ended": {},'),
    "with its members instead": lambda name, value: b"\n".join(
        (*OWN.text(name, {"x": 1}).split(b"\n")[:2], *_plain(value).split(b"\n")[1:])
    ),
    "with a proof in a member": lambda name, value: _plain(
        {**value, "proof": json.loads(OWN.text(name, value))["proof"]}
    ),
    "nothing": lambda name, value: b"",
    "no object": lambda name, value: b"[1]",
    "deep": lambda name, value: b"[" * 100_000,
}
