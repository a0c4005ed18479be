"""Profiles: what their file holds and who may read it, and which deployment counts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from slipway.client.deployment import PROFILE, Deployment, find_deployment
from slipway.client.profiles import Profile, Profiles, file_of, read_profiles, write_profiles
from slipway.failure import Failure

ONE = Profile("https://one.example.com", "key-of-one")
TWO = Profile("https://two.example.com", "key-of-two")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv(PROFILE, raising=False)
    return file_of(os.environ)


def test_the_file_is_of_its_owner_alone_and_comes_back_as_it_was(file: Path) -> None:
    written = Profiles().with_profile("one", ONE).with_profile("two", TWO)
    write_profiles(file, written)

    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert read_profiles(file) == written
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_others_may_read_is_refused(file: Path) -> None:
    write_profiles(file, Profiles().with_profile("one", ONE))
    file.chmod(0o640)

    with pytest.raises(Failure, match="chmod 600"):
        read_profiles(file)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"current": "a", "profiles": {"a": {"uri": "x"}}}', "\xff"]
)
def test_a_damaged_file_is_said_without_what_it_holds(file: Path, text: str) -> None:
    write_profiles(file, Profiles())
    file.write_text(text, encoding="latin-1")

    with pytest.raises(Failure, match="remove it, and log in again"):
        read_profiles(file)


def test_no_key_is_shown() -> None:
    assert "key-of-one" not in repr(Profiles().with_profile("one", ONE))
    assert "key-of-one" not in repr(Deployment("https://one.example.com", "key-of-one"))


async def test_options_come_before_the_profile_and_the_profile_before_the_local_stack(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = await find_deployment("", "")
    assert local.url.startswith("http://127.0.0.1")
    write_profiles(file, Profiles().with_profile("one", ONE).with_profile("two", TWO))

    assert await find_deployment("", "") == Deployment(TWO.url, TWO.key)
    assert await find_deployment("", "given") == Deployment(TWO.url, "given")
    monkeypatch.setenv(PROFILE, "one")
    assert await find_deployment("", "") == Deployment(ONE.url, ONE.key)
    monkeypatch.setenv(PROFILE, "none")
    with pytest.raises(Failure, match="known: one, two"):
        await find_deployment("", "")


async def test_the_key_of_a_profile_goes_to_no_other_address(file: Path) -> None:
    write_profiles(file, Profiles().with_profile("one", ONE))

    assert await find_deployment("https://elsewhere.example.com/", "") == Deployment(
        "https://elsewhere.example.com", ""
    )


def test_the_file_lies_in_the_home_where_no_other_place_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert file_of({}) == Path("/home/ann/.config/slipway/profiles.json")
    assert file_of({"XDG_CONFIG_HOME": "relative"}) == file_of({})


def test_what_the_file_holds_is_plain(file: Path) -> None:
    write_profiles(
        file, Profiles().with_profile("one", Profile("https://one.example.com", scope="api://a/.default"))
    )

    assert json.loads(file.read_text()) == {
        "current": "one",
        "profiles": {"one": {"url": "https://one.example.com", "scope": "api://a/.default"}},
    }
