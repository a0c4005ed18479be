"""`--json` ends everywhere: every command prints its error as JSON, with an exit code for its kind."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from slipway.cli_page import PAGE, commands
from slipway.failure import KINDS, NOT_KNOWN, Failure, Kind
from slipway.main import main
from tests.breadth import pairs
from tests.doubles.server import answering
from tests.unit.slipway.commands.test_json import EXCEPTIONS
from tests.unit.slipway.test_lost_answers import CHANGES, READS
from tests.unit.world import job_json

WITH_JSON = sorted({*commands()} - EXCEPTIONS)
#: An id of each kind, and the files of the folder, which the words of commands name.
WORDS = {
    **dict.fromkeys(("RAN", "WAITS", "HELD"), "j_" + "a" * 24),
    **dict.fromkeys(("SWEEP", "ENDED"), "s_" + "a" * 24),
    **{"EVENT": "evt_1", "DEAD": "d_1", "HOOK": "https://hooks.example.com/in"},
}
#: Commands that ask the API in another way than the tests of lost answers.
OTHERS = {"code": "code RAN --list", "run": "run FOLDER/train.py --detach", "support": "support RAN"}
#: Commands that go past the API, or go on without it, with words that they cannot do, and the error.
LOCAL = {
    "backup make": ("backup make FOLDER/x --settings FOLDER/none.json", "local"),
    "backup restore": ("backup restore FOLDER/none --into t1", "unknown"),
    "data get": ("data get x --settings FOLDER/none.json", "local"),
    "data ls": ("data ls --settings FOLDER/none.json", "local"),
    "data put": ("data put FOLDER/none --settings FOLDER/none.json", "local"),
    "data rm": ("data rm x --settings FOLDER/none.json", "local"),
    "drop": ("drop FOLDER/none", "local"),
    "enqueue": ("enqueue FOLDER/none.json", "local"),
    "az-env": ("az-env --data FOLDER/none", "local"),
    "emulate batch": ("emulate batch --data FOLDER/message.json", "local"),
    "init": ("init nonsense", "unknown"),
    "logout": ("logout", "unknown"),
    "preempt": ("preempt tvm-1 --settings FOLDER/none.json", "local"),
    "prices": ("prices", "usage"),
    "setup": ("setup --settings FOLDER/none.json", "local"),
    "teams key": ("teams key no/name", "local"),
}
#: Commands whose answer is what is wrong: a list of findings.
ANSWERS = {"doctor", "validate", "version"}
ASKS = {name: line for name, line in {**READS, **CHANGES, **OTHERS}.items() if name not in EXCEPTIONS}


class Refused(NamedTuple):
    """An answer of the API, and what a command makes of it."""

    status: int
    kind: str
    retry: bool = False
    codes: tuple[str, ...] = ()


REFUSALS = (
    Refused(400, "rejected"),
    Refused(401, "not-allowed"),
    Refused(403, "not-allowed"),
    Refused(404, "unknown"),
    Refused(409, "rejected"),
    Refused(410, "unknown"),
    Refused(422, "rejected", codes=("SW012", "SW110")),
    Refused(422, "over-limit", codes=("SW110",)),
    Refused(422, "over-limit", codes=("SW119",)),
    Refused(422, "not-allowed", codes=("SW113",)),
    Refused(502, "no-answer", retry=True),
    Refused(503, "no-answer", retry=True),
)
CODES = {one.code: one.exit_code for one in KINDS}


def run(line: str, folder: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of a command line."""
    words = [folder_words(word, folder, url) for word in line.split()]
    takes_url = any("--url" in one.opts for one in commands()[named(line)].params)
    address = ["--url", url] if takes_url and "URL" not in line else []
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.setattr(sys, "argv", ["slipway", *words, *address, "--json"])
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def named(line: str) -> str:
    """The command of a line."""
    return max((name for name in commands() if f"{line} ".startswith(f"{name} ")), key=len)


def folder_words(word: str, folder: Path, url: str) -> str:
    for name, value in {**WORDS, "FOLDER": str(folder), "URL": url}.items():
        word = word.replace(name, value)
    return word


def error_of(out: str, code: int) -> dict[str, Any]:
    """The error that a command has printed as its last line, with the exit code of its kind."""
    error: dict[str, Any] = json.loads(out.splitlines()[-1])["error"]
    assert set(error) == {"code", "text", "remedy", "retry"}
    assert error["text"]
    assert code == CODES[error["code"]]
    return error


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files that commands take."""
    (tmp_path / "train.py").write_text("print(1)")
    for name, document in {
        "message": {"name": "sent", "spec": job_json()},
        "receipt": {"id": WORDS["RAN"]},
        "teams": {"teams": {}},
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    return tmp_path


def test_every_command_is_tried() -> None:
    assert sorted({*ASKS, *LOCAL, *ANSWERS}) == WITH_JSON


@pytest.mark.parametrize("name", WITH_JSON)
def test_a_mistake_in_the_words_of_any_command_is_an_error_in_json(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["slipway", *name.split(), "--no-such-option", "--json"])
    with pytest.raises(SystemExit) as end:
        main()

    error = error_of(capsys.readouterr().out, int(end.value.code or 0))

    assert error["code"] == "usage"
    assert error["remedy"].endswith(f"{name} --help")


@pytest.mark.parametrize(("refused", "name"), pairs(REFUSALS, sorted(ASKS)))
async def test_what_the_api_refuses_is_an_error_in_json_of_its_kind(
    name: str,
    refused: Refused,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    errors = [{"code": one, "pointer": "", "message": "m", "severity": "error"} for one in refused.codes]
    document = {"detail": "it is refused", "remedy": "do otherwise", "errors": errors}

    async def answer(_: web.Request) -> web.Response:
        return web.json_response(document, status=refused.status, content_type="application/problem+json")

    async with answering(answer) as url:
        code = await asyncio.to_thread(run, ASKS[name], folder, url, monkeypatch)

    error = error_of(capsys.readouterr().out, code)
    assert (error["code"], error["retry"]) == (refused.kind, refused.retry)
    if refused.status not in (401, 404):
        assert error["text"].startswith("it is refused")


@pytest.mark.parametrize("name", sorted(LOCAL))
def test_what_goes_wrong_on_this_machine_is_an_error_in_json(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line, kind = LOCAL[name]

    code = run(line, folder, "http://127.0.0.1:1", monkeypatch)

    assert error_of(capsys.readouterr().out, code)["code"] == kind


@pytest.mark.parametrize("name", sorted(ASKS))
def test_a_command_that_nothing_answers_says_so_and_that_it_may_be_repeated(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(ASKS[name], folder, "http://127.0.0.1:1", monkeypatch)

    error = error_of(capsys.readouterr().out, code)
    assert (error["code"], code, error["retry"]) == ("no-answer", NOT_KNOWN, True)


def test_a_job_that_has_failed_has_its_exit_code_in_the_answer_and_the_command_one_of_its_own() -> None:
    from slipway.commands.asking import exit_code

    ended = [{"state": "failed", "exitCode": code} for code in (1, 2, 3, 125)]

    assert {exit_code(job, as_json=True) for job in ended} == {1}
    assert [exit_code(job, as_json=False) for job in ended] == [1, 2, 3, 125]


def test_a_defect_is_an_error_in_json_and_its_traceback_is_for_people(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from slipway.ending import exit_code

    def defect(**_: object) -> None:
        raise ZeroDivisionError

    code = exit_code(defect, ["jobs", "--json"])

    captured = capsys.readouterr()
    assert error_of(captured.out, code)["code"] == "internal"
    assert "ZeroDivisionError" in captured.err


def test_what_follows_two_dashes_is_of_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    from slipway.ending import exit_code

    def fails() -> None:
        raise Failure("it is wrong; mend it")

    assert exit_code(fails, ["run", "train.py", "--", "--json"]) == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_each_kind_is_in_the_table_of_the_page(kind: Kind) -> None:
    assert f"| {kind.exit_code} | `{kind.code}` | {kind.meaning} |" in PAGE.read_text()


def test_the_codes_of_kinds_differ_from_each_other() -> None:
    assert len(set(CODES.values())) == len(KINDS)
