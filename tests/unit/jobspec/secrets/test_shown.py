"""What is shown of a person's text: the token with its caret, and never a secret, however broken it is."""

from __future__ import annotations

import json
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.jobspec import Source, mended, read, report, validate
from slipway.commands.validate.sarif import sarif
from tests.breadth import examples, one_each, pairs
from tests.diagnosis import problems_of
from tests.unit.jobspec.bad_texts import TEXTS, Text
from tests.unit.jobspec.jobs import job, share
from tests.unit.jobspec.problems.test_places import token_of
from tests.unit.jobspec.secrets.test_secrets import PLACES

CANARY = "cAnArY-7c41"
FILE = Path("job.json")


def everything_shown(text: str | bytes) -> str:
    """All that anyone gets to see of a document."""
    source = Source(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    problems = problems_of(source.data, FILE)
    result = report.problems_as_json(problems)
    after = mended(source, lambda changed: problems_of(changed.data, FILE))
    outputs = [
        report.text(result),
        json.dumps(report.as_json(problems, valid=False)),
        json.dumps(sarif({"job.json": result}, version="0")),
        repr(problems),
        repr(source),
    ]
    if after.data != source.data:
        outputs += [source.masked(problems), after.masked(problems_of(after.data, FILE))]
    return "\n".join(outputs)


def pieces(secret: str) -> set[str]:
    """What would give it away."""
    return {secret[start : start + 7] for start in range(len(secret) - 6)}


BREAKS = {
    "valid": lambda text: text,
    "comma": lambda text: text.replace("}]", "},]", 1).replace("}}", "},}", 1),
    "comment": lambda text: text.replace("{", "{ // " + CANARY + "\n", 1),
    "single quotes": lambda text: text.replace('"', "'"),
    "no quotes": lambda text: text.replace('"', ""),
    "unclosed": lambda text: text[: text.index(CANARY) + len(CANARY)],
    "cut": lambda text: text[: text.index(CANARY) + len(CANARY) + 1],
    "no comma": lambda text: text.replace('", "', '" "'),
    "Latin-1": lambda text: text.replace(CANARY, CANARY + "\udce9"),
    "tab": lambda text: text.replace(CANARY, CANARY + "\t"),
    "control": lambda text: text.replace(CANARY, CANARY + "\x01"),
    "null": lambda text: text.replace(CANARY, CANARY + "\\u0000"),
    "escaped": lambda text: text.replace(CANARY, "\\u0063AnArY-7c41"),
    "twice": lambda text: "[" + text + "," + text + "]",
    "unknown beside": lambda text: text.replace("{", '{"zzz": 1, ', 1),
    "nested": lambda text: '{"a":' * 70 + text,
}


@pytest.mark.parametrize(("pointer", "how"), pairs((pointer for pointer, _ in PLACES), BREAKS))
def test_no_secret_is_shown_of_a_broken_document(pointer: str, how: str) -> None:
    document = dict(PLACES)[pointer]
    for indent in (None, 2):
        text = BREAKS[how](json.dumps(document, indent=indent))
        shown = everything_shown(text.encode("utf-8", "surrogateescape"))
        assert not any(piece in shown for piece in pieces(CANARY)), pointer


_SECRET = "aB3" * 28 + "aB=="
_LINE = share(credentials={"accountKey": _SECRET, "acountKey": _SECRET}, account_key=_SECRET)


@given(st.data())
@settings(max_examples=examples(250), deadline=None)
def test_no_secret_is_shown_after_any_change_of_the_text(data: st.DataObject) -> None:
    document = json.loads(json.dumps(_LINE))
    document["properties"]["secrets"] = [{"name": "TOKEN", "value": _SECRET}]
    document["properties"][data.draw(st.sampled_from(["zzz", "pasword", "tokn"]))] = _SECRET
    text = json.dumps(document, indent=data.draw(st.sampled_from([None, 1])))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        removed = data.draw(st.integers(0, 2))
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", '"', "'", ",", "}", "{", "\\", "x", "\n", ":"]))
            + text[at + removed :]
        )

    shown = everything_shown(text)

    assert not any(_SECRET[start : start + 12] in shown for start in range(len(_SECRET) - 11))


def _preparation(line: str) -> dict[str, Any]:
    return {"jobPreparation": {"commandLine": line}}


@pytest.mark.parametrize(
    ("body", "hidden", "visible"),
    [
        ({"zzz": CANARY}, CANARY, "zzz"),
        ({"zzz": {"deep": [CANARY]}}, CANARY, "zzz"),
        ({"A" * 44 + "==": 1}, "A" * 40, "***"),
        ({"whsec_" + "Ab1" * 12: 1}, "Ab1Ab1", "***"),
        (_preparation(f"curl https://h/x?sig={CANARY} $AZ_BATCHAI_INPUT_A"), CANARY, "curl"),
        (_preparation(f"run --token={CANARY} $AZ_BATCHAI_INPUT_A"), CANARY, "run"),
        (_preparation(f"git clone https://u:{CANARY}@h/ $AZ_BATCHAI_INPUT_A"), CANARY, "git"),
        (_preparation(f'"a" --token={CANARY}" $AZ_BATCHAI_INPUT_A'), CANARY, "***"),
        ({"environmentVariables": [{"name": "API_KEY", "value": CANARY, "x": 1}]}, CANARY, "API_KEY"),
        ({"secrets": [{"name": "A", "value": 12345678, "x": 1}]}, "12345678", "secrets"),
    ],
)  # fmt: skip
def test_only_the_secret_of_a_line_is_masked(body: dict[str, Any], hidden: str, visible: str) -> None:
    shown = everything_shown(json.dumps(job(**body)))

    assert hidden not in shown
    assert visible in shown


def test_the_address_of_a_receiver_is_a_secret_in_whole() -> None:
    text = json.dumps(
        {"spec": job(), "notify": [{"url": f"https://hooks.example.org/{CANARY}", "secret": "a b"}]}
    )

    assert CANARY not in everything_shown(text)


@pytest.mark.parametrize("bad", one_each(TEXTS, attrgetter("code")), ids=lambda bad: repr(bad.text[-50:]))
def test_the_caret_stands_under_the_token(bad: Text) -> None:
    for one in problems_of(bad.text.encode(), FILE):
        place = one.place
        assert place is not None
        assert place.source.isprintable()
        assert 0 <= place.caret <= len(place.source)
        token = token_of(bad.text, one).split("\n")[0].rstrip("\r")
        under = place.source[place.caret : place.caret + place.width]
        if "*" not in under and token.isprintable():
            assert under == token or token.startswith(under.rstrip("…")) or not token.strip()


def test_of_a_long_line_a_window_is_shown() -> None:
    document = job(
        environmentVariables=[{"name": f"A{number}", "value": "x"} for number in range(300)], zzz=1
    )
    text = json.dumps(document)

    (one,) = Source(text.encode()).locate(validate(document)[1])

    assert one.place is not None
    assert len(one.place.source) < 120
    assert one.place.source.startswith("…")
    assert one.place.source[one.place.caret : one.place.caret + one.place.width] == '"zzz"'


def test_letters_that_deceive_are_shown_as_escapes_and_wide_ones_keep_the_caret_in_place() -> None:
    text = '{"properties": {"日本": "\u202ex", "nodeCuont": 1}}'

    shown = report.text(report.problems_as_json(problems_of(text.encode(), FILE)))

    assert "\u202e" not in shown
    assert '  | {"properties": {"日本": "***", "nodeCuont": 1}}\n' + "  | " + " " * 31 + "^" * 11 in shown


def test_the_mask_keeps_the_lines_of_a_diff() -> None:
    text = '{\n "password":\n  "' + CANARY + '",\n "b": 1\n}'

    assert Source(text.encode()).masked(()) == '{\n "password":\n  "***",\n "b": 1\n}'
    assert read(text.encode())[0] is not None


@pytest.mark.parametrize(
    "text",
    [
        '{"properties": {' + ", ".join(f'"k{n}": "canary-{n}"' for n in range(150)) + "}}",
        '{"spec": {"properties": {' + ", ".join(f'"k{n}": "canary-{n}"' for n in range(150)) + "}}}",
        '{"spec": {"properties": 1}, ' + ", ".join(f'"k{n}": "canary-{n}"' for n in range(150)) + "}",
        '{"properties": {"passphrase": "<your name> canary", "nodeCount": 0}}',
    ],
)
def test_unknown_properties_that_are_counted_only_hide_what_they_say_too(text: str) -> None:
    problems = problems_of(text.encode(), FILE)

    assert "canary" not in report.text(report.problems_as_json(problems))
    assert "canary" not in Source(text.encode()).masked(problems)


def test_a_placeholder_in_an_unknown_property_does_not_make_it_known() -> None:
    problems = problems_of(b'{"properties": {"passphrase": "<your name>"}}', FILE)

    assert [one.code for one in problems if one.pointer == "/properties/passphrase"] == ["SW012"]


@pytest.mark.parametrize("name", [f"--token={CANARY}", f"https://me:{CANARY}@h/x", f"HF_TOKEN={CANARY}"])
def test_a_secret_in_a_name_is_not_shown(name: str) -> None:
    text = json.dumps({"properties": {name: 1, "nodeCuont": 2}})

    assert "nodeCuont" in everything_shown(text)
    assert CANARY not in everything_shown(text)
