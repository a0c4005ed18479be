"""docs/how-to/run-a-first-job.md and the page after it: each of their commands, in order, by a shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.door import Door
from tests.acceptance.pages.page import blocks, play
from tests.acceptance.templates.stand_ins import only_wheels_of, wheel

PAGES = ("how-to/run-a-first-job.md", "how-to/go-on-from-a-first-job.md")
#: Where `make up` has its receiver, unless the port is taken.
RECEIVER = "http://127.0.0.1:7090"
#: Stands for the package of this name, as far as the page uses it.
TABULATE = """def tabulate(rows, headers):
    return "\\n".join("  ".join(map(str, row)) for row in [headers, *rows])
"""
pytestmark = pytest.mark.asyncio(loop_scope="session")


def of_pages(language: str) -> list[str]:
    """The blocks of both pages, in their order."""
    return [block for page in PAGES for block in blocks(page, language)]


@pytest.mark.thorough
async def test_the_pages_do_what_they_say(door: Door, tmp_path: Path) -> None:
    for name, script in zip(("first/train.py", "table/train.py"), of_pages("python"), strict=True):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(script)
    commands = [block.replace(RECEIVER, door.stack.receiver_url) for block in of_pages("sh")]
    output = []

    for block in commands:
        if "requirements.txt" in block:
            wheel(tmp_path, "tabulate", {"tabulate.py": TABULATE})
            with only_wheels_of(tmp_path, door):
                output.append(await play(door, tmp_path, block))
        else:
            output.append(await play(door, tmp_path, block))

    _, run, both, failed, later, packages, explained, webhook = output
    assert "epoch 4: loss" in run
    assert run.endswith("1.914\n")
    assert both.endswith("weights-0.txt\nweights-1.txt\n")
    assert "epoch  loss\n1  0.5\n2  0.25\n" in packages
    assert "it failed with 1" in failed
    assert failed.count("a loss of 0.430 is not good enough") >= 3  # run, show, log
    assert "succeeded" in later
    assert (tmp_path / "later/MODEL/weights-0.txt").read_text() == "1.697\n"
    assert "valid" in explained
    assert (tmp_path / "again/MODEL/weights-0.txt").is_file()
    assert '"type": "io.slipway.job.succeeded.v1"' in webhook
    assert "delivered" in webhook.splitlines()[-1]
