"""The question after a Ctrl-C."""

import io

import pytest

from slipway.commands.running.run import _cancels


@pytest.mark.parametrize(
    ("answers", "cancels", "questions"),
    [
        ("c\n", True, 1),
        ("zz\n Cancel \n", True, 2),
        ("\n", False, 1),
        ("", False, 1),
        ("x\ny\nd\n", False, 3),
    ],
)
def test_what_is_no_answer_is_asked_again(
    answers: str,
    cancels: bool,
    questions: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))

    assert _cancels("[D/c] ") == cancels
    assert capsys.readouterr().err.count("[D/c] ") == questions
