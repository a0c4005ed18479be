"""The whole of `slipway doctor`: which checks run, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slipway.commands.doctor import doctor
from slipway.commands.doctor.findings import Finding, Options, fail, ok, skip


async def works(_: Options) -> list[Finding]:
    return [ok("one", "works")]


async def looks_not(_: Options) -> list[Finding]:
    return [skip("two", "no one is signed in")]


async def breaks(_: Options) -> list[Finding]:
    return [fail("three", "is broken", "mend it")]


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No deployment, no stack and no environment of azd."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("SLIPWAY_PROFILE", "")


def test_what_was_not_checked_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    options = Options("http://127.0.0.1:9", "")

    doctor.run(options, (works, looks_not), as_json=True)

    shown = {one["subject"]: one for one in json.loads(capsys.readouterr().out)["findings"]}
    assert shown["two"]["outcome"] == "skip"
    assert shown["two"]["text"] == "not checked: no one is signed in"


def test_live_looks_at_azure_and_not_at_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    code = doctor.run(Options("http://127.0.0.1:9", ""), (breaks,), is_live=True, as_json=True)

    subjects = {one["subject"] for one in json.loads(capsys.readouterr().out)["findings"]}
    assert code == 1
    assert "live" in subjects
    assert subjects.isdisjoint({"three", "python", "disk", "settings"})
