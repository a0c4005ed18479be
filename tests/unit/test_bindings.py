"""What the host is given when it indexes the app is what the app itself reads in its settings."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from functions import bindings
from shared.settings import TABLE, Settings

_FILE = Path(bindings.__file__)
_TEXT = _FILE.read_text(encoding="utf-8")
#: The settings that it reads. Of the one with the storage account it gives the host the name alone.
NAMES = sorted(set(re.findall(r'"([A-Z]+_[A-Z_]+)"', _TEXT)) - {bindings.CONNECTION})
#: White space that comes with a text from a file, a form or another program.
WHITE = ["", " ", "\n", "\r\n", "\t ", "\u00a0"]


def given_to_the_host(name: str, text: str | None, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """All constants of the bindings, in an app with this one setting."""
    for one in {*NAMES, *os.environ}:
        if one in TABLE:
            monkeypatch.delenv(one, raising=False)
    if text is not None:
        monkeypatch.setenv(name, text)
    read = runpy.run_path(str(_FILE))
    return {key: value for key, value in read.items() if key.isupper() and key != "SETTINGS"}


def texts_of(name: str) -> list[str]:
    """Some that a setting may have."""
    row = TABLE[name]
    texts = {*row.words, *(word.upper() for word in row.words), row.default, row.example or ""} - {""}
    return sorted(texts) or ["some-text"]


def test_the_settings_are_found() -> None:
    assert len(NAMES) == len(re.findall(r"_setting\(\"", _TEXT)) == 4
    assert set(NAMES) <= TABLE.keys()


@pytest.mark.parametrize("white", WHITE)
@pytest.mark.parametrize(("name", "text"), [(name, text) for name in NAMES for text in texts_of(name)])
def test_white_space_around_a_setting_means_nothing_to_the_host_and_to_the_app(
    name: str, text: str, white: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    padded, plain = Settings({name: f"{white}{text}{white}"}), Settings({name: text})

    assert padded.value(name) == plain.value(name)
    assert given_to_the_host(name, padded.values[name], monkeypatch) == given_to_the_host(
        name, text, monkeypatch
    )


@pytest.mark.parametrize("white", WHITE)
@pytest.mark.parametrize("name", NAMES)
def test_a_setting_that_is_blank_is_not_set_for_the_host_and_for_the_app(
    name: str, white: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Settings({name: white}).value(name) == Settings({}).value(name)
    assert given_to_the_host(name, white, monkeypatch) == given_to_the_host(name, None, monkeypatch)
