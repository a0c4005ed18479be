"""Which folders of a job are listed, and what is said of the others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from slipway.client.calls.answers import FilePage
from slipway.client.files import walk as walking
from slipway.client.files.walk import walk
from slipway.failure import Failure
from tests.unit.slipway.client.wrote import MOMENT, Wrote


async def test_a_circle_of_links_ends() -> None:
    many: dict[str, Any] = {"weights": b"w"}
    many["again"] = many["too"] = many
    api = Wrote(many)
    tree = await walk(api, "j_1", ["OUT"])
    assert [file.name for file in tree.files] == ["OUT/weights"]
    # Folders of Batch AI have no time, so that a folder may be another one that looks the same.
    assert [name for name, _ in tree.unread] == ["OUT/again", "OUT/too"]
    assert tree.skipped == ()

    alone: dict[str, Any] = {}
    alone["again"] = alone
    api = Wrote(alone)
    tree = await walk(api, "j_1", ["OUT"])
    # So may folders that hold nothing but the next one: what lies below them would be missing.
    assert (tree.files, len(tree.unread), tree.skipped) == ((), 1, ())
    assert "more than 256 folders deep" in tree.unread[0][1]
    assert api.lists < 260


async def test_a_link_is_one_for_sure_where_folders_have_times() -> None:
    class Timed(Wrote):
        async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
            listed = await super().files(job_id, directory, path)
            return [{**entry, "modified": MOMENT} for entry in listed]

    many: dict[str, Any] = {"weights": b"w"}
    many["again"] = many
    tree = await walk(Timed(many), "j_1", ["OUT"])

    assert [file.name for file in tree.files] == ["OUT/weights"]
    assert [name for name, _ in tree.skipped] == ["OUT/again"]
    assert tree.unread == ()


async def test_folders_named_as_those_around_them_are_no_links() -> None:
    inner = {"cat": {"model.bin": b"cat"}, "dog": {"model.bin": b"dog"}}
    tree = await walk(Wrote({"cat": inner, "dog": inner}), "j_1", ["OUT"])

    paths = [f"{one}/{two}/model.bin" for one in ("cat", "dog") for two in ("cat", "dog")]
    assert [file.path for file in tree.files] == paths
    assert (tree.skipped, tree.unread) == ((), ())


async def test_a_deep_folder_of_one_name_is_read_to_its_end() -> None:
    folder: dict[str, Any] = {"file": b"x"}
    for _ in range(30):
        folder = {"a": folder}
    tree = await walk(Wrote(folder), "j_1", ["OUT"])
    assert [file.path for file in tree.files] == ["a/" * 30 + "file"]


async def test_folders_that_alternate_are_read_to_their_end() -> None:
    """Lists of Batch AI have no times of folders: these and a circle of links look the same for long."""
    folder: dict[str, Any] = {"file": b"x"}
    for number in range(200):
        folder = {"ba"[number % 2]: folder}

    tree = await walk(Wrote(folder), "j_1", ["OUT"])

    assert [file.path for file in tree.files] == ["a/b/" * 100 + "file"]
    assert (tree.skipped, tree.unread) == ((), ())


async def test_a_circle_over_several_folders_ends_with_the_links_that_a_cluster_follows() -> None:
    def circle(links: int) -> dict[str, Any]:
        return {"b": {"circle": circle(links - 1) if links else None}}

    tree = await walk(Wrote({"weights": b"w", "a": circle(40)}), "j_1", ["OUT"])

    assert ([file.path for file in tree.files], len(tree.skipped), tree.unread) == (["weights"], 1, ())


async def test_what_does_not_end_is_never_missed_quietly() -> None:
    circle: dict[str, Any] = {}
    circle["b"] = {"circle": circle}

    tree = await walk(Wrote({"a": circle}), "j_1", ["OUT"])

    ((_, reason),) = tree.unread
    assert "more than 256 folders deep" in reason
    assert tree.skipped == ()


@pytest.mark.parametrize("patterns", [(), ("OUT/a1",), ("a1/a2/a3",)])
async def test_a_folder_deeper_than_a_walk_goes_is_named_as_one_that_was_not_read(
    patterns: tuple[str, ...],
) -> None:
    folder: dict[str, Any] = {"file": b"x"}
    for number in range(70, 0, -1):
        folder = {f"a{number}": folder}

    tree = await walk(Wrote({**folder, "near": b"n"}), "j_1", ["OUT"], patterns)

    ((name, reason),) = tree.unread
    assert (name.count("/a"), tree.skipped) == (65, ())
    assert "more than 64 folders deep" in reason


async def test_two_links_in_a_folder_of_folders_end_at_the_bounds() -> None:
    folder: dict[str, Any] = {}
    folder["one"] = folder["two"] = folder
    api = Wrote(folder)

    assert (await walk(api, "j_1", ["OUT"])).unread
    assert api.lists < 1_200


async def test_folders_that_look_alike_are_all_walked() -> None:
    tree = await walk(Wrote({"a": {"a": {"a": {"a": {"file": b"x"}}}}}), "j_1", ["OUT"])
    assert [file.path for file in tree.files] == ["a/a/a/a/file"]


async def test_links_that_lead_out_are_named_and_not_read() -> None:
    tree = await walk(Wrote({"passwd": None, "a": b"a"}), "j_1", ["OUT"])
    assert [file.path for file in tree.files] == ["a"]
    assert tree.skipped == (("OUT/passwd", "it is a link that leads out of the job's folder"),)


async def test_a_folder_that_cannot_be_listed_costs_itself_alone(tmp_path: Path) -> None:
    class Odd(Wrote):
        async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
            if path == "odd":
                raise Failure("the path leads out of the output directory")
            return await super().files(job_id, directory, path)

    api = Odd({"odd": {"lost": b"x"}, "good": b"good"})
    tree = await walk(api, "j_1", ["OUT"])

    assert [file.path for file in tree.files] == ["good"]
    assert tree.unread == (("OUT/odd", "the path leads out of the output directory"),)


async def test_what_lies_beyond_the_bound_is_named_and_the_rest_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(walking, "_MOST_FOLDERS", 5)
    api = Wrote({"weights": b"w", **{str(n): {"f": b"", "below": {"g": b""}} for n in range(40)}})

    tree = await walk(api, "j_1", ["OUT"])

    assert "OUT/weights" in [file.name for file in tree.files]
    ((name, reason),) = tree.unread
    assert name.startswith("OUT/")
    assert "slipway download JOB DIRECTORY/FOLDER" in reason


@pytest.mark.long
async def test_a_mesh_of_links_between_folders_ends_soon_with_all_files() -> None:
    folders: dict[str, dict[str, Any]] = {f"d{n}": {f"f{n}": bytes(n)} for n in range(60)}
    for name, folder in folders.items():
        folder |= {f"to-{other}": folders[other] for other in folders if other != name}
    api = Wrote(folders)

    tree = await walk(api, "j_1", ["OUT"])

    assert api.lists < 1_200
    assert {f"OUT/d{n}/f{n}" for n in range(60)} <= {file.name for file in tree.files}
    assert "links that lead in circles" in tree.unread[0][1]


@pytest.mark.parametrize(
    ("patterns", "lists"),
    [
        (("b/c.bin",), 2),
        (("OUT/b",), 3),
        (("b/deep/",), 3),
        (("b/d*/x",), 3),
        (("*.bin",), 5),
        (("none/at/all",), 1),
        (("OTHER/*",), 1),
        (("be*",), 2),
        (("?/?.bin",), 3),
        (("OUT/[ab]/[!c].bin",), 3),
    ],
)
async def test_only_folders_are_listed_in_which_something_may_fit(
    patterns: tuple[str, ...], lists: int
) -> None:
    api = Wrote({"a": {"x.bin": b"x"}, "b": {"c.bin": b"c", "deep": {"x": b"x"}}, "be": {"y.bin": b"y"}})

    tree = await walk(api, "j_1", ["OUT"], patterns)

    assert api.lists == lists
    everything = await walk(api, "j_1", ["OUT"])
    assert tree.files == tuple(file for file in everything.files if file.fits(patterns))


@pytest.mark.parametrize(
    "pattern", ["best[1].bin", "OUT/best[1].bin", "run[0]", "OUT/run[0]/", "run[0]/w.bin"]
)
async def test_names_with_brackets_are_meant_as_they_are(pattern: str) -> None:
    api = Wrote({"best[1].bin": b"b", "run[0]": {"w.bin": b"w"}})

    tree = await walk(api, "j_1", ["OUT"], [pattern])

    expectation = "OUT/best[1].bin" if "best" in pattern else "OUT/run[0]/w.bin"
    assert [file.name for file in tree.files] == [expectation]


async def test_what_is_listed_and_cannot_be_asked_for_is_said() -> None:
    class Odd(Wrote):
        async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
            odd = {"name": "a\\n", "bytes": None, "modified": None, "leftOut": True}
            return [*await super().files(job_id, directory, path), odd]

    tree = await walk(Odd({"good": b"good"}), "j_1", ["OUT"])

    assert [file.path for file in tree.files] == ["good"]
    reason = (
        "its name is not UTF-8, or has a backslash or characters that control, hide or reorder text, so no "
        "request names it"
    )
    assert tree.unread == (("OUT/a\\n", reason),)


class WithOthers(Wrote):
    """Beside the files, what a list names and no request gets."""

    async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
        kinds = {"bad\\n": "file", "dir\\n": "directory", "old\\n": "", "queue": "pipe"}
        others = [
            {
                "name": name,
                "bytes": None,
                "modified": None,
                "leftOut": True,
                **({"kind": kind} if kind else {}),
            }
            for name, kind in kinds.items()
        ]
        return [*await super().files(job_id, directory, path), *others]


@pytest.mark.parametrize(
    ("pattern", "skipped", "unread"),
    [
        ("OUT/go*", [], []),
        ("OUT/[a]", [], []),
        ("?ood", [], []),
        ("*.bin", ["out", "queue"], ["dir\\n", "old\\n"]),
        ("OUT/b*", [], ["bad\\n"]),
        ("OUT/q*", ["queue"], []),
        ("OUT/bad*.txt", [], []),
        ("OUT/d*/x", [], ["dir\\n"]),
        ("OUT", ["out", "queue"], ["bad\\n", "dir\\n", "old\\n"]),
    ],
)
async def test_what_cannot_be_asked_for_is_said_only_where_it_may_have_been_meant(
    pattern: str, skipped: list[str], unread: list[str]
) -> None:
    tree = await walk(WithOthers({"good": b"good", "out": None}), "j_1", ["OUT"], [pattern])

    assert [name for name, _ in tree.skipped] == [f"OUT/{name}" for name in skipped]
    assert [name for name, _ in tree.unread] == [f"OUT/{name}" for name in unread]


async def test_what_is_no_file_is_named_with_what_it_is() -> None:
    tree = await walk(WithOthers({}), "j_1", ["OUT"])

    assert tree.skipped == (("OUT/queue", "it is a pipe, not a file"),)
    assert [name for name, _ in tree.unread] == ["OUT/bad\\n", "OUT/dir\\n", "OUT/old\\n"]


class Paged(Wrote):
    """A service that lists one entry a page; after the pages in `lost` it fails."""

    lost: tuple[str, str] = ("", "")

    async def files_page(self, job_id: str, directory: str, path: str, after: str = "") -> FilePage:
        await asyncio.sleep(0)
        if (path, after) == self.lost:
            raise Failure("the list is broken")
        at = int(after or 0)
        entries = await self.files(job_id, directory, path)
        return FilePage(entries[at : at + 1], str(at + 1) if at + 1 < len(entries) else "")


async def test_files_are_found_page_by_page_in_the_order_of_the_lists() -> None:
    api = Paged({"a": b"a", "b": {"c": b"c", "d": b"d"}, "e": b"e"})
    pages = list[tuple[int, list[str]]]()

    tree = await walk(
        api, "j_1", ["OUT"], receive=lambda files: pages.append((api.lists, [file.path for file in files]))
    )

    names = [name for _, paths in pages for name in paths]
    assert names == ["a", "e", "b/c", "b/d"]
    assert sorted(names) == [file.path for file in tree.files]
    assert pages[0] == (1, ["a"])  # while the other pages are still to come


async def test_a_circle_that_takes_pages_to_see_is_not_found_twice() -> None:
    folder: dict[str, Any] = {"weights": b"w", "more": b"m"}
    folder["again"] = folder
    names = list[str]()

    await walk(Paged(folder), "j_1", ["OUT"], receive=lambda files: names.extend(file.path for file in files))

    assert names == ["weights", "more"]


async def test_what_was_listed_of_a_folder_is_there_where_the_rest_cannot_be_listed() -> None:
    api = Paged({"a": b"a", "b": b"b"})
    api.lost = (".", "1")

    tree = await walk(api, "j_1", ["OUT"])

    assert [file.path for file in tree.files] == ["a"]
    assert tree.unread == (("OUT", "the list is broken"),)
