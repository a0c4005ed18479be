"""On the event loop of Azure's worker each request gets its own answer or none, also where many give up."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.breadth import one_each


@pytest.mark.parametrize("way", one_each([(), ("tls",)], lambda _: "a storm"))
def test_every_request_gets_its_own_answer_or_none(way: tuple[str, ...]) -> None:
    pytest.importorskip("uvloop", reason="has no wheel for this Python or system")

    ran = subprocess.run(
        [sys.executable, "-m", "tests.slow.connections.storm", "ours", *way],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    ends = json.loads(ran.stdout)
    assert set(ends) == {"late", "right"}
    assert ran.stderr == ""
