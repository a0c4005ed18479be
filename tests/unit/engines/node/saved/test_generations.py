"""Which generation a run begins with, and what it has of each node's."""

from __future__ import annotations

from typing import Any

import pytest

from shared.engines.node.saved.generations import (
    FILE,
    FOLDER,
    LINK,
    MOST_ENTRIES,
    Content,
    Entry,
    Manifest,
    Moment,
    content_of,
    document_of,
    leads_inside,
    manifests_of,
    merged,
    moment_of,
    whole,
    why_refused,
)

_PART = "000001-000001-001700000000-" + "0" * 32


def file(text: str = "a", *, is_own: bool = True, part: str = _PART) -> Entry:
    return Entry(FILE, 3, 1, 0o644, text * 64, part, is_own)


def node(*replaced: str, **entries: Entry) -> Content:
    return Content(dict(entries), set(replaced))


def test_a_name_says_when_and_on_which_node_it_was_made() -> None:
    manifest = Manifest(Moment(2, 3, 1_700_000_000), 1, 4)

    assert manifests_of([str(manifest)]) == [manifest]
    assert moment_of(f"{manifest.moment}-{'ab' * 16}") == manifest.moment


@pytest.mark.parametrize(
    "name", ["", "x", "000001-000001-001700000000-4-of-4", "-1-1-1-0-of-1", "1-1-1-0-of-1"]
)
def test_another_name_is_no_manifest(name: str) -> None:
    assert manifests_of([name, f"{name}\n"]) == []


def test_the_newest_generation_comes_first_and_each_node_counts() -> None:
    early, late, next_run, retry = Moment(1, 1, 20), Moment(1, 1, 30), Moment(1, 2, 10), Moment(2, 1, 5)
    members = {
        moment: [Manifest(moment, number, 2) for number in range(2)]
        for moment in (early, late, next_run, retry)
    }
    names = [*members[early], members[late][0], *members[next_run], *members[retry]]

    assert whole(names) == [members[retry], members[next_run], members[early]]


def test_what_a_node_changed_counts_more_than_what_it_began_with() -> None:
    stale, fresh = file("a", is_own=False), file("b")

    entries = merged([node(weights=stale), node(weights=fresh)])

    assert entries == {"weights": fresh._replace(is_own=False)}


def test_of_two_nodes_that_wrote_the_same_name_the_first_counts() -> None:
    assert merged([node(log=file("a")), node(log=file("b"))])["log"].text == "a" * 64


def test_what_one_node_removed_is_gone_unless_another_wrote_it_anew() -> None:
    began = file("a", is_own=False)

    assert merged([node("old"), node(old=began)]) == {}
    assert merged([node(old=began), node("old")]) == {}
    assert merged([node("old"), node(old=file("b"))])["old"].text == "b" * 64


def test_what_one_node_changed_and_then_removed_does_not_come_back_from_another() -> None:
    assert merged([node("old"), node(old=file("a", is_own=False))]) == {}


def test_nothing_lies_below_a_file_or_a_link() -> None:
    entries = {"a": file(), "a/b": file(), "l": Entry(LINK, text="a"), "l/b/c": file(), "d": Entry(FOLDER)}

    assert sorted(merged([Content({**entries, "d/e/f": file()}, set())])) == ["a", "d", "d/e/f", "l"]


def test_what_only_another_node_uploads_is_taken_from_that_node() -> None:
    entries = merged([node(weights=file(is_own=False)), node(weights=file(is_own=False, part=""))])

    assert entries["weights"].part == _PART
    assert merged([node(weights=file(is_own=False, part=""))]) == {}


def test_a_manifest_says_what_it_was_made_of() -> None:
    entries = {"ä\udcff/w": file(), "ä\udcff": Entry(FOLDER), "last": Entry(LINK, text="ä\udcff/w")}
    content = Content(entries, {"old"})

    assert content_of(document_of(content)) == content


@pytest.mark.parametrize(
    ("path", "target", "expected"),
    [
        ("last", "step-3", True),
        ("a/b/last", "../../c/./d", True),
        ("last", "..", False),
        ("a/last", "../..", False),
        ("last", "/etc/passwd", False),
        ("last", "", False),
        ("last", "a\0b", False),
        # Where `a` is a link to the top, this is above it.
        ("d/last", "a/../x", False),
    ],
)
def test_a_link_may_go_up_from_its_own_folder_only(path: str, target: str, expected: bool) -> None:
    assert leads_inside(path, target) is expected


_GOOD: list[Any] = [FILE, 3, 1, 0o644, "a" * 64, _PART, True]


def _changed(place: int, value: Any) -> list[Any]:
    return [value if at == place else field for at, field in enumerate(_GOOD)]


@pytest.mark.parametrize(
    "entries",
    [
        None,
        [],
        *({path: _GOOD} for path in ("", "/a", "a/", "../a", "a/../b", "a//b", ".", "a\0", "a" * 1025)),
        *({"a": fields} for fields in (None, {"a": 1}, _GOOD[:-1], [*_GOOD, 1], list[Any]())),
        *({"a": _changed(0, kind)} for kind in ("pipe", "", None, 1, [1])),
        *({"a": _changed(1, size)} for size in (-1, "1", None, True, 1.5)),
        *({"a": _changed(4, digest)} for digest in ("", "a" * 63, "A" * 64, f"{'a' * 64}\n")),
        *({"a": _changed(5, part)} for part in ("", "../x", _PART[1:], f"{_PART}/..")),
        *({"a": _changed(6, is_own)} for is_own in (0, None, "true")),
        {"a": [LINK, 0, 0, 0, "../x", "", True]},
        {str(number): _GOOD for number in range(MOST_ENTRIES + 1)},
    ],
)
def test_a_manifest_of_another_form_is_refused(entries: Any) -> None:
    with pytest.raises(ValueError, match=r"^it has "):
        content_of({"version": 1, "entries": entries, "replaced": []})


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"version": 2, "entries": {}, "replaced": []},
        {"version": 1, "entries": {}},
        {"version": 1, "entries": {}, "replaced": [[]]},
    ],
)
def test_a_manifest_of_another_version_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="it has another form"):
        content_of(document)


def test_what_is_too_much_is_named() -> None:
    assert why_refused([0] * MOST_ENTRIES) == ""
    assert why_refused([0] * (MOST_ENTRIES + 1)) == "it has more than 10000 files and folders"
    assert why_refused([1 << 39, 1 << 39, 1]) == "it has 1099511627777 bytes, and 1099511627776 is the most"
