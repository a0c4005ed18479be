"""The addresses that the page makes of names are those that the API takes apart again."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

from tests.names import TREE
from tests.slow.page.programs import answer_of


def test_a_file_of_any_name_is_asked_for_listed_and_shown_under_its_own_name() -> None:
    for path, addresses in zip(TREE, answer_of("addresses.mjs", [*TREE]), strict=True):
        steps = urlsplit(addresses["file"]).path.split("/")
        assert [unquote(step) for step in steps] == ["", *f"api/jobs/j_1/files/MODEL/{path}".split("/")]
        query = parse_qsl(urlsplit(addresses["list"]).query, strict_parsing=True)
        assert query == [("directory", "MODEL"), ("path", path)]
        assert addresses["steps"] == ["jobs", "j_1", "files", "MODEL", *path.split("/")]
