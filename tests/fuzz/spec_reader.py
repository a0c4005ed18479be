"""The spec reader under arbitrary bytes. `make fuzz` drives it by coverage (atheris); a test, by a seed.

Every input gets an answer, never an exception, and what was sealed opens to what was there.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from random import Random

from shared.intake.desk.prepare import prepare
from shared.intake.message import Request, read_message
from shared.jobspec import Limits, complete, open_secrets, read, redact, seal_secrets, validate
from shared.jobspec.report import as_json
from tests.unit.jobspec.jobs import everything
from tests.unit.world import World

_LIMITS = Limits(max_bytes=1 << 16)
_WORLD = World()
_STRANGE = (b"\xff\xfe", b"\x00", b"\\ud800", b"https://a/?", b"sealed:v1:QQ", b"\xc3")


def one(data: bytes) -> None:
    """One input, through everything that reads it before it is recorded. Raises AssertionError."""
    document, problems = read(data, _LIMITS)
    assert document is not None or problems
    for message in read_message(data, _LIMITS):
        if isinstance(message, Request):
            prepared = prepare(_WORLD.ports, message, key="k")
            json.dumps(as_json(prepared.problems, valid=prepared.valid, notes=prepared.notes))
            assert prepared.valid or prepared.problems
    if document is None:
        return
    completed, _ = complete(document, _WORLD.ports.policy.completion)
    spec, result = validate(completed, limits=_LIMITS)
    assert spec is not None or result
    json.dumps(redact(completed))
    sealed = seal_secrets(completed, _seal)
    assert open_secrets(sealed, _open) == completed


def seeds() -> list[bytes]:
    """What to start from: the examples, and a document with every part of the format."""
    root = Path(__file__).resolve().parents[2]
    result = [path.read_bytes() for path in sorted(root.glob("examples/**/*.json"))]
    return [*result, json.dumps(everything()).encode(), json.dumps({"spec": everything()}).encode()]


def mutated(data: bytes, dice: Random) -> bytes:
    """Some small changes of a text: bytes, pieces, and the signs of JSON."""
    text = bytearray(data)
    for _ in range(dice.randint(1, 6)):
        at = dice.randrange(len(text) + 1)
        kind = dice.randrange(5)
        if kind == 0:
            text[at:at] = dice.choice((b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"null", b"1e999"))
        elif kind == 1:
            del text[at : at + dice.randint(1, 30)]
        elif kind == 2 and text:
            text[at % len(text)] = dice.randrange(256)
        elif kind == 3:
            text[at:at] = text[max(0, at - 40) : at]
        else:
            text[at:at] = dice.choice(
                (b"\xff\xfe", b"\x00", b"\\ud800", b"https://a/?", b"sealed:v1:QQ", b"\xc3")
            )
    return bytes(text)


def _seal(at: str, value: str) -> str:
    return "sealed:v1:" + value.encode("utf-8", "surrogatepass").hex()


def _open(at: str, text: str) -> str:
    return bytes.fromhex(text.removeprefix("sealed:v1:")).decode("utf-8", "surrogatepass")


def main() -> None:
    """Run atheris as its arguments say; the last one is the corpus, which gets the seeds."""
    atheris = import_module("atheris")
    for number, seed in enumerate(seeds()):
        Path(sys.argv[-1], f"seed-{number}.json").write_bytes(seed)
    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
