"""What the GitHub Action makes of its inputs, and of what the command says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from slipway.github_action.cancel import cancel, doubt
from slipway.github_action.course import Course
from slipway.github_action.page import Page, outputs, summary
from slipway.github_action.words import words
from tests.unit.documents.corpus import ROOT

ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
INPUTS = {"INPUT_PATH": "-x; $(id)", "INPUT_TO": "/tmp/out"}
HOSTILE = "</code></pre>\n\n# [x](https://evil.example)\n\n<img src=x> & `a` | b"


def course(*events: object) -> Course:
    """After these events."""
    one = Course()
    for event in events:
        one.take(json.dumps(event))
    return one


def test_each_line_of_an_input_is_a_word_of_the_command() -> None:
    inputs = {"INPUT_OPTIONS": "--time=1h\n\n  --env=A=b c\r\n", "INPUT_ARGUMENTS": "--lr\n0.1; $HOME `id`\n"}

    assert words(INPUTS | inputs) == [
        *("run", "--json", "--to", "/tmp/out", "--time=1h", "--env=A=b c"),
        *("--", "-x; $(id)", "--lr", "0.1; $HOME `id`"),
    ]
    assert words(INPUTS | inputs, "--detach")[6:8] == ["--detach", "--"]
    assert words(INPUTS) == ["run", "--json", "--to", "/tmp/out", "--", "-x; $(id)"]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"event": "log", "file": "stdout-0.txt", "line": "epoch 1"}, "epoch 1"),
        ({"event": "log", "file": "stdout-1.txt", "rank": "1", "line": "epoch 1"}, "1: epoch 1"),
        ({"event": "job", "id": "j_1"}, "slipway: the job is j_1"),
        ({"event": "state", "state": "running", "at": "…"}, "slipway: running"),
        ({"event": "waits", "word": "Quota", "text": "its team has 4"}, "slipway:   its team has 4"),
        ({"event": "end", "id": "j_1", "state": "succeeded"}, ""),
        ({"event": "interrupted", "cancelled": False}, ""),
        ({"error": {"code": "usage", "text": "no", "remedy": "", "retry": False}}, ""),
        ({"sweepId": "s_1"}, '{"sweepId": "s_1"}'),
        (["text"], '["text"]'),
    ],
)
def test_an_event_is_a_line_for_people(event: object, text: str) -> None:
    assert Course().take(json.dumps(event)) == text


def test_what_is_not_an_event_is_printed_as_it_is() -> None:
    assert Course().take("{ not JSON") == "{ not JSON"


@pytest.mark.parametrize(
    ("end", "of_command", "code"),
    [
        ({"state": "succeeded", "exitCode": 0}, 0, 0),
        ({"state": "succeeded", "exitCode": 0}, 1, 1),  # a file could not be saved
        ({"state": "failed", "exitCode": 7}, 1, 7),
        ({"state": "failed", "exitCode": -9}, 1, 1),
        ({"state": "failed", "exitCode": 300}, 1, 1),
        ({"state": "cancelled"}, 1, 1),
        ({}, 6, 6),
    ],
)
def test_the_exit_code_is_the_jobs_or_else_the_commands(
    end: dict[str, object], of_command: int, code: int
) -> None:
    assert course({"event": "end", "id": "j_1", **end}).exit_code(of_command) == code


def test_the_summary_says_how_it_ended() -> None:
    end = {"event": "end", "id": "j_1", "state": "failed", "exitCode": 7, "message": "it ended with 7"}
    text = summary(course({"event": "job", "id": "j_1"}, {**end, "errors": ["the end of x:", "  boom"]}), 7)

    assert "Slipway: failed" in text
    for words_of_it in ("j_1", ">7<", "it ended with 7", "boom"):
        assert words_of_it in text


def test_the_summary_of_what_was_not_sent_has_the_remedy() -> None:
    text = summary(
        course({"error": {"code": "usage", "text": "there is no x", "remedy": "name a script"}}), 2
    )

    assert "there is no x" in text
    assert "name a script" in text


@pytest.mark.parametrize("member", ["message", "errors", "id"])
def test_what_a_job_wrote_is_text_in_the_summary(member: str) -> None:
    value = [HOSTILE] if member == "errors" else HOSTILE
    end = {"event": "end", "id": "j_1", "state": "failed", member: value}
    text = summary(course({"event": "job", "id": HOSTILE}, end), 1)

    assert "<img" not in text
    assert not re.search(r"\n\s*\n", text), "Markdown would begin"
    assert text.count("</code>") == text.count("<code>")


SUBMITTED = {"event": "interrupted", "idempotencyKey": "a-key", "cancelled": False}


@pytest.mark.parametrize(
    ("events", "text", "remedy"),
    [
        ([], "the job may run", "slipway jobs --source http --limit 5"),
        ([SUBMITTED], "the job may run", "slipway jobs --source http --limit 5"),
        ([{"event": "interrupted", "cancelled": False}], "before its job was submitted", ""),
        ([{"event": "job", "id": "j_1"}], "its job may go on", "slipway cancel j_1"),
    ],
)
def test_a_cancelled_workflow_says_what_may_go_on_before_it_tries_to_end_it(
    events: list[object], text: str, remedy: str
) -> None:
    words_of_it = doubt(course(*events))

    assert text in words_of_it["text"]
    assert remedy in words_of_it.get("remedy", "")


def test_a_workflow_that_is_cancelled_before_there_is_a_job_says_so() -> None:
    one = course({"event": "interrupted", "cancelled": False})

    assert cancel(one, INPUTS) == {"text": "the workflow was cancelled before its job was submitted"}


def test_the_last_summary_stands_after_those_of_other_steps(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("of another step\n", encoding="utf-8")
    page = Page(str(file))

    page.write("it may go on, é\n")
    page.write("it is cancelled\n")

    assert file.read_text(encoding="utf-8") == "of another step\nit is cancelled\n"
    Page("").write("nowhere")


def test_what_later_steps_read_is_a_line_for_each_output() -> None:
    end = {"event": "end", "id": "j_1\nstate=succeeded", "state": "failed\njob=j_2", "exitCode": 7}
    text = outputs(course({"event": "job", "id": "j_1\nstate=succeeded"}, end), "/tmp/out")

    assert [line.partition("=")[0] for line in text.splitlines()] == [
        "job",
        "state",
        "exit-code",
        "directory",
    ]


def test_the_action_has_the_outputs_that_the_program_writes() -> None:
    named = re.findall(r"steps\.run\.outputs\.([\w-]+) ", ACTION)

    assert named == [line.partition("=")[0] for line in outputs(Course(), "").splitlines()]


def test_the_page_names_every_input_and_output() -> None:
    page = (ROOT / "docs" / "how-to" / "run-from-github.md").read_text(encoding="utf-8")
    members = re.findall(r"^  ([\w-]+):\n    description", ACTION, re.MULTILINE)

    assert members == re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)
    assert {*re.findall(r"^          ([\w-]+): ", page, re.MULTILINE)} - {"DIRECTORY"} < {*members}


def test_no_input_is_part_of_a_script() -> None:
    scripts = re.findall(r"^ +run: (.*(?:\n {8}.*)*)", ACTION, re.MULTILINE)

    assert len(scripts) == ACTION.count("shell: bash") == 2
    assert [script for script in scripts if "${{" in script] == []


def test_each_input_reaches_the_program_as_a_variable_and_the_key_nothing_else() -> None:
    inputs = re.findall(r"^  ([\w-]+):\n    description", ACTION.partition("\noutputs:")[0], re.MULTILINE)
    variables = dict(re.findall(r"^ +(\w+): \$\{\{ inputs\.(\w+) \}\}$", ACTION, re.MULTILINE))

    assert sorted({*variables.values(), "artifact"}) == sorted(inputs)
    assert variables["SLIPWAY_KEY"] == "key"
    assert ACTION.count("inputs.key") == 1
