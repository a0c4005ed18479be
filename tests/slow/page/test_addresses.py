"""The addresses that the page makes of names are those that the API takes apart again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from local.setup.node import installed_node, packaged_node
from local.setup.page import WEB
from tests.names import TREE


def test_a_file_of_any_name_is_asked_for_listed_and_shown_under_its_own_name() -> None:
    """The page is bundled in `web`, where its packages are."""
    program = Path(__file__).with_name("addresses.mjs").read_text(encoding="utf-8")
    node = installed_node() or packaged_node(Path(sys.prefix))

    ran = subprocess.run(
        [*node.node, "--input-type=module", "--eval", program],
        cwd=WEB,
        input=json.dumps([*TREE]),
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    for path, addresses in zip(TREE, json.loads(ran.stdout), strict=True):
        steps = urlsplit(addresses["file"]).path.split("/")
        assert [unquote(step) for step in steps] == ["", *f"api/jobs/j_1/files/MODEL/{path}".split("/")]
        query = parse_qsl(urlsplit(addresses["list"]).query, strict_parsing=True)
        assert query == [("directory", "MODEL"), ("path", path)]
        assert addresses["steps"] == ["jobs", "j_1", "files", "MODEL", *path.split("/")]
