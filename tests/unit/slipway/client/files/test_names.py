"""Names of files that a job chose: those that a disk takes for one never overwrite each other."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slipway.client.files.arriving import complete
from slipway.client.files.download import save
from slipway.client.files.names import impossible
from slipway.client.files.save import MARK
from slipway.client.files.saving import Outcome
from slipway.client.files.walk import walk
from tests.unit.slipway.client.wrote import Wrote

ONE, TWO = "\u00e9.pt", "e\u0301.pt"


def composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def plain(name: str) -> str:
    return composed(name.casefold())


def fold_names(monkeypatch: pytest.MonkeyPatch, fold: Callable[[str], str]) -> None:
    """The disk takes names for one that this makes the same, as APFS, NTFS and ext4 (casefold) may."""

    def folding(call: Callable[..., Any], *, of_both: bool = False) -> Callable[..., Any]:
        def folded(name: Any, *more: Any, **options: Any) -> Any:
            if any(one.endswith("dir_fd") and fd is not None for one, fd in options.items()):
                name = fold(os.fsdecode(name))
                more = (fold(more[0]), *more[1:]) if of_both else more
            return call(name, *more, **options)

        return folded

    for name in ("open", "stat", "unlink", "mkdir"):
        monkeypatch.setattr(os, name, folding(getattr(os, name)))
    monkeypatch.setattr(os, "replace", folding(os.replace, of_both=True))


def in_folder(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()}


async def saved(to: Path, *names: str) -> Outcome:
    api = Wrote({name: str(number).encode() for number, name in enumerate(names)})
    tree = await walk(api, "j_1", ["OUT"])
    return await save(api, "j_1", complete(tree.files), to, lambda _: None)


@pytest.mark.parametrize(
    ("fold", "first", "second", "difference"),
    [
        (str.casefold, "Model", "model", "in case"),
        (composed, TWO, ONE, "in how letters are composed"),
        (plain, "E\u0301.pt", ONE, "in case"),
        (plain, TWO, ONE, "in how letters are composed"),
    ],
)
async def test_names_that_a_disk_takes_for_one_do_not_overwrite_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    fold: Callable[[str], str], first: str, second: str, difference: str,
) -> None:  # fmt: skip
    fold_names(monkeypatch, fold)

    outcome = await saved(tmp_path, first, second)

    reason = f"another file's name differs {difference} only, which this disk does not distinguish"
    assert outcome.failed == [(f"OUT/{second}", reason)]
    assert in_folder(tmp_path / fold("OUT")) == {fold(first)}
    assert (tmp_path / fold("OUT") / fold(first)).read_bytes() == b"0"


@pytest.mark.parametrize(
    ("fold", "names"),
    [
        (str, ("Model", "model", ONE, TWO)),
        (str.casefold, (ONE, TWO)),
        (composed, ("Model", "model")),
    ],
)
async def test_names_that_the_disk_can_tell_apart_all_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fold: Callable[[str], str], names: tuple[str, ...]
) -> None:
    fold_names(monkeypatch, fold)

    assert (await saved(tmp_path, *names)).saved == len(names)
    assert in_folder(tmp_path) == {MARK, fold("OUT")}
    assert in_folder(tmp_path / fold("OUT")) == {fold(name) for name in names}


def test_a_name_that_the_locale_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsencode", lambda name: name.encode("iso-8859-1", "surrogateescape"))
    assert impossible("\u00e9") == ""
    assert "the locale of this machine lacks" in impossible("\u65e5\u672c")


@pytest.mark.parametrize(
    ("name", "flaw"),
    [
        ("a:b", "its name has ':'"),
        ("what?.csv", "its name has '?'"),
        ("a|b", "its name has '|'"),
        ("end.", "its name ends with '.'"),
        ("end ", "its name ends with ' '"),
        ("NUL", "its name is that of a device"),
        ("com1.txt", "its name is that of a device"),
        ("Lpt9 .log", "its name is that of a device"),
        ("common.txt", ""),
        (".a", ""),
    ],
)
def test_windows_refuses_more_names(name: str, flaw: str) -> None:
    assert impossible(name, "nt") == (f"{flaw}, which Windows does not allow" if flaw else "")
    assert impossible(name, "posix") == ""
