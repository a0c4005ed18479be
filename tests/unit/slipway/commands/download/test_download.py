"""`slipway download`: which files, and how they come to lie on a disk that the job must not choose."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from slipway.client.calls.answers import FileChunk, FilePage
from slipway.client.calls.refusal import Changed, Unanswered
from slipway.client.files import output
from slipway.client.files.arriving import complete
from slipway.client.files.download import find_and_save, save
from slipway.client.files.remote import Remote
from slipway.client.files.save import MARK, Destination
from slipway.client.files.saving import Outcome
from slipway.client.files.walk import walk
from slipway.failure import Failure
from slipway.terminal.bar import Bar
from tests.unit.slipway.client.wrote import MOMENT, Wrote


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of four bytes, and no waiting."""
    monkeypatch.setattr(output, "CHUNK", 4)

    at_once = asyncio.sleep

    async def sleep(seconds: float) -> None:
        await at_once(0)

    monkeypatch.setattr("slipway.client.files.output.asyncio.sleep", sleep)


async def fetched(api: Wrote, to: Path, *patterns: str) -> Outcome:
    tree = await walk(api, "j_1", ["OUT"])
    files = [file for file in tree.files if file.fits(patterns)]
    return await save(api, "j_1", complete(files), to, lambda _: None)


def on_disk(to: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(to)): path.read_bytes()
        for path in to.rglob("*")
        if path.is_file() and path.name != MARK
    }


async def test_files_come_with_their_folders_bytes_and_times(tmp_path: Path) -> None:
    api = Wrote({"a.bin": b"0123456789", "empty": b"", "b": {"c": {"d.txt": b"d"}}})

    outcome = await fetched(api, tmp_path / "to")

    assert (outcome.saved, outcome.bytes, outcome.failed) == (3, 11, [])
    assert on_disk(tmp_path / "to") == {"OUT/a.bin": b"0123456789", "OUT/empty": b"", "OUT/b/c/d.txt": b"d"}
    written = datetime.fromisoformat(MOMENT).timestamp()
    assert (tmp_path / "to/OUT/a.bin").stat().st_mtime == pytest.approx(written, abs=0.001)


async def test_what_is_there_already_is_left_alone_and_what_differs_is_replaced(tmp_path: Path) -> None:
    api = Wrote({"a": b"0123456789", "b": b"bb"})
    await fetched(api, tmp_path)
    (tmp_path / "OUT/b").write_bytes(b"edited by hand")
    api.reads.clear()

    outcome = await fetched(api, tmp_path)

    assert (outcome.saved, outcome.present) == (1, 1)
    assert {path for path, _ in api.reads} == {"b"}
    assert on_disk(tmp_path) == {"OUT/a": b"0123456789", "OUT/b": b"bb"}


async def test_a_download_that_was_cut_off_goes_on_and_leaves_nothing_behind(tmp_path: Path) -> None:
    api = Wrote({"a": b"0123456789"})
    api.troubles = [b"0123", Failure("the disk of the service is full"), Failure("the same")]
    first = await fetched(api, tmp_path)
    assert [name for name, _ in first.failed] == ["OUT/a"]
    (part,) = on_disk(tmp_path)
    assert part.startswith("OUT/.slipway-")
    api.reads.clear()
    api.troubles = []

    second = await fetched(api, tmp_path)

    assert (second.saved, api.reads[0]) == (1, ("a", 4))
    assert on_disk(tmp_path) == {"OUT/a": b"0123456789"}


async def test_the_part_of_an_older_version_is_not_gone_on_with(tmp_path: Path) -> None:
    api = Wrote({"a": b"0123456789"})
    api.troubles = [b"0123", Failure("cut off"), Failure("cut off")]
    await fetched(api, tmp_path)

    api.root = {"a": b"another one"}
    await fetched(api, tmp_path)

    assert on_disk(tmp_path) == {"OUT/a": b"another one"}


async def test_a_file_that_changes_while_it_is_read_is_read_again_and_given_up_after_three(
    tmp_path: Path,
) -> None:
    api = Wrote({"a": b"0123456789"})
    api.troubles = [b"abcd", Changed("changed"), Changed("changed")]
    assert (await fetched(api, tmp_path / "x")).saved == 1
    assert on_disk(tmp_path / "x") == {"OUT/a": b"0123456789"}

    api.troubles = [Changed("changed")] * 3
    outcome = await fetched(api, tmp_path / "y")
    assert "when the job has ended" in outcome.failed[0][1]


async def test_an_answer_that_does_not_come_is_asked_for_again(tmp_path: Path) -> None:
    api = Wrote({"a": b"0123456789"})
    api.troubles = [Unanswered("502"), Unanswered("503")]
    assert (await fetched(api, tmp_path)).saved == 1


async def test_an_answer_that_is_too_short_is_asked_for_again(tmp_path: Path) -> None:
    api = Wrote({"a": b"0123456789"})
    real = api.content

    async def content(*request: Any) -> FileChunk:
        result = await real(*request)
        if request[3] == 4 and [first for _, first in api.reads].count(4) == 1:
            return FileChunk(result.data[:1], result.size, result.tag)
        return result

    api.content = content  # type: ignore[method-assign,assignment]
    await fetched(api, tmp_path)
    assert on_disk(tmp_path) == {"OUT/a": b"0123456789"}


@pytest.mark.parametrize("name", ["..", ".", "", "a\\b", "a\x1b[2J", "x" * 300, "\x00"])
async def test_a_name_that_leads_elsewhere_is_refused_and_the_others_come(tmp_path: Path, name: str) -> None:
    to = tmp_path / "to"
    tree = [Remote("OUT", f"{name}/evil", 1, None), Remote("OUT", "good", 4, None)]

    result = await save(
        Wrote({"good": b"good", name: {"evil": b"x"}}), "j_1", complete(tree), to, lambda _: None
    )

    assert [lost for lost, _ in result.failed] == [f"OUT/{name}/evil"]
    assert on_disk(tmp_path) == {"to/OUT/good": b"good"}


async def test_a_link_on_ones_own_disk_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "to/OUT").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "to/OUT/below").symlink_to(tmp_path / "secret")
    (tmp_path / "secret/kept").write_text("kept")
    (tmp_path / "to/OUT/file").symlink_to(tmp_path / "secret/kept")

    outcome = await fetched(Wrote({"below": {"kept": b"evil"}, "file": b"mine"}), tmp_path / "to")

    assert [name for name, _ in outcome.failed] == ["OUT/below/kept"]
    assert (tmp_path / "secret/kept").read_text() == "kept"
    assert (tmp_path / "to/OUT/file").read_bytes() == b"mine"
    assert not (tmp_path / "to/OUT/file").is_symlink()


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        ((), ["OUT/a.txt", "OUT/b/c.bin", "OUT/b/d.txt"]),
        (("*.txt",), ["OUT/a.txt", "OUT/b/d.txt"]),
        (("OUT/b",), ["OUT/b/c.bin", "OUT/b/d.txt"]),
        (("b/",), ["OUT/b/c.bin", "OUT/b/d.txt"]),
        (("OUT/b/c.bin", "a.*"), ["OUT/a.txt", "OUT/b/c.bin"]),
        (("c.bin",), []),
    ],
)
async def test_patterns_name_files_and_folders(patterns: tuple[str, ...], names: list[str]) -> None:
    tree = await walk(Wrote({"a.txt": b"a", "b": {"c.bin": b"c", "d.txt": b"d"}}), "j_1", ["OUT"])
    assert [file.name for file in tree.files if file.fits(patterns)] == names


async def test_few_requests_are_under_way_at_once(tmp_path: Path) -> None:
    api = Wrote({str(n): bytes(20) for n in range(40)})
    real, now, most = api.content, 0, 0

    async def content(*request: Any) -> FileChunk:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return await real(*request)

    api.content = content  # type: ignore[method-assign,assignment]
    outcome = await fetched(api, tmp_path)
    assert (outcome.saved, most <= output.PARALLEL) == (40, True)
    assert not list((tmp_path / "OUT").glob(".*"))


async def test_files_of_another_job_are_not_taken_for_its_own(tmp_path: Path) -> None:
    first, second = Wrote({"w": b"first"}), Wrote({"w": b"other"})
    tree = await walk(first, "j_1", ["OUT"])
    await save(first, "j_1", complete(tree.files), tmp_path, lambda _: None)

    result = await save(second, "j_2", complete(tree.files), tmp_path, lambda _: None)

    assert (result.saved, result.present) == (1, 0)
    assert on_disk(tmp_path) == {"OUT/w": b"other"}
    again = await save(second, "j_2", complete(tree.files), tmp_path, lambda _: None)
    assert (again.saved, again.present) == (0, 1)


async def test_a_jobs_own_file_that_looks_like_a_part_is_kept(tmp_path: Path) -> None:
    name = f".slipway-part-{'0' * 16}-{'1' * 16}"
    await fetched(Wrote({name: b"mine", "a": b"a"}), tmp_path)
    assert on_disk(tmp_path) == {f"OUT/{name}": b"mine", "OUT/a": b"a"}


async def test_nothing_is_left_of_a_file_of_which_nothing_came(tmp_path: Path) -> None:
    api = Wrote({"a": b"0123456789"})
    api.troubles = [Failure("its server is gone")]
    outcome = await fetched(api, tmp_path)
    assert outcome.failed == [("OUT/a", "its server is gone")]
    assert on_disk(tmp_path) == {}


async def test_a_name_with_an_unusual_space_is_a_name(tmp_path: Path) -> None:
    name = "loss\u00a0curve\u3000.png"
    await fetched(Wrote({name: b"x"}), tmp_path)
    assert on_disk(tmp_path) == {f"OUT/{name}": b"x"}


async def test_a_directory_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / MARK).mkdir()  # so it cannot be marked
    with pytest.raises(Failure, match=f"nothing can be saved in {tmp_path}: Is a directory"):
        await fetched(Wrote({"a": b"a"}), tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(Failure, match=f"nothing can be saved in {tmp_path}/file/below: Not a directory"):
        await fetched(Wrote({"a": b"a"}), tmp_path / "file/below")


async def test_parts_of_a_chunk_come_one_behind_the_other_however_many(tmp_path: Path) -> None:
    parts = [bytes([number % 251]) * (number % 700) for number in range(1500)]
    whole = b"".join(parts)
    file = Remote("OUT", "a", len(whole), None)

    async def content() -> AsyncIterator[FileChunk]:
        yield FileChunk(parts[:700], len(whole), "")
        yield FileChunk(parts[700:], len(whole), "")

    place = Destination(tmp_path)
    sizes = [size async for size in place.save(file, 0, content())]
    place.close()

    assert (sum(sizes), len(sizes)) == (len(whole), 2)
    assert on_disk(tmp_path) == {"OUT/a": whole}


async def test_a_folder_is_walked_to_once_and_not_for_each_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, real, walks = Wrote({"deep": {str(number): b"x" for number in range(50)}}), os.open, 0

    def counted(path: Any, *more: Any, **named: Any) -> int:
        nonlocal walks
        walks += path == "deep"
        return real(path, *more, **named)

    monkeypatch.setattr(os, "open", counted)
    assert (await fetched(api, tmp_path)).saved == 50
    assert walks < 6


class Growing(Wrote):
    """A service that lists one file a page, and each of them only when the one before is on the disk."""

    def __init__(self, files: dict[str, bytes], to: Path) -> None:
        super().__init__(files)
        self.to = to

    async def files_page(self, job_id: str, directory: str, path: str, after: str = "") -> FilePage:
        names = sorted(self.root)
        while after and not (self.to / "OUT" / names[int(after) - 1]).exists():  # noqa: ASYNC110
            await asyncio.sleep(0)
        at = int(after or 0)
        entry = {"name": names[at], "bytes": len(self.root[names[at]]), "modified": MOMENT}
        return FilePage([entry], str(at + 1) if at + 1 < len(names) else "")


async def test_files_are_saved_while_others_are_still_listed(tmp_path: Path) -> None:
    to, expected = tmp_path / "to", list[int]()
    api = Growing({"a": b"0123456789", "b": b"b", "c": b"c"}, to)

    finding, outcome = await find_and_save(
        api, "j_1", ["OUT"], (), lambda tree: bool(tree.files), to, Bar(expected.append, lambda _: None)
    )

    assert (len(finding.what.files), outcome.saved, outcome.failed) == (3, 3, [])
    assert on_disk(to) == {"OUT/a": b"0123456789", "OUT/b": b"b", "OUT/c": b"c"}
    assert expected == [10, 1, 1]


async def test_a_second_look_saves_only_what_is_new(tmp_path: Path) -> None:
    class Later(Wrote):
        async def job(self, job_id: str) -> Any:
            self.root = {**self.root, "late": b"late"}
            return {"state": "succeeded"}

    api = Later({"a": b"a"})

    _, outcome = await find_and_save(api, "j_1", ["OUT"], (), lambda tree: len(tree.files) > 1, tmp_path)

    assert (outcome.saved, outcome.present) == (2, 0)
    assert sorted(path for path, _ in api.reads) == ["a", "late"]


async def test_nothing_is_made_where_no_file_fits_and_nothing_goes_on_after_a_failure(tmp_path: Path) -> None:
    class Ended(Wrote):
        async def job(self, job_id: str) -> Any:
            return {"state": "succeeded"}

    finding, outcome = await find_and_save(
        Ended({"a": b"a"}), "j_1", ["OUT"], ["none"], lambda tree: bool(tree.files), tmp_path / "to"
    )
    assert (finding.what.files, outcome.saved, (tmp_path / "to").exists()) == ((), 0, False)

    (tmp_path / "file").touch()
    before = asyncio.all_tasks()
    with pytest.raises(Failure, match="nothing can be saved in"):
        await find_and_save(
            Growing({"a": b"a", "b": b"b"}, tmp_path), "j_1", ["OUT"], (), bool, tmp_path / "file"
        )
    assert asyncio.all_tasks() == before


class BreaksOff(Wrote):
    """A service that answers nothing any more after the first page of a list."""

    async def files_page(self, job_id: str, directory: str, path: str, after: str = "") -> FilePage:
        if after:
            raise Unanswered("503")
        first = next(iter(await self.files(job_id, directory)))
        return FilePage([first], "more")


async def test_a_list_that_breaks_off_leaves_no_file_of_another_job_for_one_of_this(tmp_path: Path) -> None:
    async def get(api: Wrote, job_id: str) -> Outcome:
        return (
            await find_and_save(api, job_id, ["OUT"], (), lambda tree: bool(tree.files), tmp_path)
        ).outcome

    await get(Wrote({"a": b"1st", "w": b"1st"}), "j_1")
    with pytest.raises(Unanswered):
        await get(BreaksOff({"a": b"2nd", "w": b"2nd"}), "j_2")
    assert on_disk(tmp_path)["OUT/w"] == b"1st"

    again = await get(Wrote({"a": b"2nd", "w": b"2nd"}), "j_2")

    assert on_disk(tmp_path) == {"OUT/a": b"2nd", "OUT/w": b"2nd"}
    assert again.saved >= 1


async def test_files_that_fit_a_pattern_do_not_make_the_others_in_the_directory_the_jobs(
    tmp_path: Path,
) -> None:
    async def get(content: bytes, job_id: str, *patterns: str) -> None:
        api = Wrote({"a": content, "w": content})
        await find_and_save(api, job_id, ["OUT"], patterns, lambda tree: bool(tree.files), tmp_path)

    await get(b"1st", "j_1")
    await get(b"2nd", "j_2", "OUT/a")
    await get(b"2nd", "j_2")
    assert on_disk(tmp_path) == {"OUT/a": b"2nd", "OUT/w": b"2nd"}


async def test_a_service_that_goes_away_ends_a_download_and_where_it_had_shown_nothing_none_begins(
    tmp_path: Path,
) -> None:
    class Silent(BreaksOff):
        async def files_page(self, job_id: str, directory: str, path: str, after: str = "") -> FilePage:
            raise Unanswered("503")

    before = asyncio.all_tasks()
    with pytest.raises(Unanswered):
        await find_and_save(Silent({}), "j_1", ["OUT"], (), bool, tmp_path / "none")
    assert not (tmp_path / "none").exists()

    class Hanging(BreaksOff):
        async def content(self, *request: Any) -> FileChunk:
            await asyncio.get_running_loop().create_future()
            raise AssertionError

    with pytest.raises(Unanswered):
        await find_and_save(Hanging({"a": b"a"}), "j_1", ["OUT"], (), bool, tmp_path / "some")
    assert asyncio.all_tasks() == before


async def test_what_was_a_program_is_one_again_and_so_is_a_script_of_which_nothing_is_said(
    tmp_path: Path,
) -> None:
    scripts = dict.fromkeys(("yes", "no", "script"), b"#!/bin/sh\n")
    api = Wrote({**scripts, "elf": b"\x7fELF\x02", "text": b"text"})
    api.members = {"yes": {"executable": True}, "no": {"executable": False}}

    await fetched(api, tmp_path)

    programs = {path.name for path in (tmp_path / "OUT").iterdir() if os.access(path, os.X_OK)}
    assert programs == {"yes", "script", "elf"}
    modes = [(tmp_path / "OUT" / name).stat().st_mode & 0o666 for name in ("yes", "no")]
    assert modes[0] == modes[1]


async def test_empty_folders_come_along_but_no_output_directory_that_has_nothing(tmp_path: Path) -> None:
    api = Wrote({"logs": {"empty": {}}, "a": b"1", "none": {}})

    def is_all(_: object) -> bool:
        return True

    await find_and_save(api, "j_1", ["OUT"], (), is_all, tmp_path / "all")
    assert (tmp_path / "all/OUT/logs/empty").is_dir()
    assert (tmp_path / "all/OUT/none").is_dir()

    await find_and_save(api, "j_1", ["OUT"], ["a"], is_all, tmp_path / "some")
    assert [path.name for path in (tmp_path / "some/OUT").iterdir()] == ["a"]

    await find_and_save(Wrote({}), "j_1", ["OUT"], (), is_all, tmp_path / "nothing")
    assert [path.name for path in (tmp_path / "nothing").iterdir()] == [MARK]


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"link": True}, "it is a link that leads out of the job's folder"),
        ({"link": True, "kind": "nowhere"}, "it is a link that leads nowhere"),
        ({"link": True, "kind": "special"}, "it is a link to a pipe, a socket or a device"),
        ({"link": True, "kind": "above"}, "it is a link to a folder above it"),
        ({"leftOut": True, "kind": "pipe"}, "it is a pipe, not a file"),
        ({"leftOut": True, "kind": "socket"}, "it is a socket, not a file"),
        ({"leftOut": True, "kind": "device"}, "it is a device, not a file"),
    ],
)
async def test_what_is_left_out_is_said_with_its_reason(members: dict[str, Any], reason: str) -> None:
    api = Wrote({"x": {}})
    api.members = {"x": members}

    assert (await walk(api, "j_1", ["OUT"])).skipped == (("OUT/x", reason),)
