"""`slipway demo`, as a person runs it: the exit code, the last line, and nothing left behind."""

import asyncio
import re
import shutil
import sys
from pathlib import Path

import aiohttp
import psutil
import pytest

from tests.acceptance.door import eventually

ROOT = Path(__file__).resolve().parents[2]


async def shown(*options: str) -> str:
    """What a demo says that succeeds, and leaves nothing behind."""
    before = set((ROOT / ".local").glob("demo-*"))

    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "slipway.main", "demo", *options),
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await demo.communicate())[0].decode()

    assert demo.returncode == 0, output
    verdict, following = output.splitlines()[-2:]
    assert verdict == "demo: 3 jobs succeeded, 1 rejected, 4 webhooks verified"
    assert following.startswith("next: `make up`")
    for text in ("│ epoch ", "diagnostics.txt", "receipt.json", "verified"):
        assert text in output
    # Another demo, of a test that runs at the same time, may have its folder there until it ends.
    remaining = set((ROOT / ".local").glob("demo-*")) - before

    async def are_gone() -> bool | None:
        return True if not any(folder.exists() for folder in remaining) else None

    await eventually(are_gone, f"{remaining} to be removed")
    return output


def most_and_last_nodes(output: str) -> tuple[int, int]:
    """The most nodes that the output shows, and how many at its end; one may come or go before the other."""
    nodes = [int(number) for number in re.findall(r"(\d+) nodes?\b", output)]
    return max(nodes), nodes[-1]


@pytest.mark.thorough  # `make demo` runs it, too
async def test_the_demo_shows_the_whole_journey_and_cleans_up() -> None:
    output = await shown()

    assert most_and_last_nodes(output) == (2, 0)
    assert "\x1b" not in output, "no colours and no cursor movements in a pipe"


async def test_a_demo_that_cannot_start_says_so_in_one_line(tmp_path: Path) -> None:
    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "slipway.main", "demo"),
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "SLIPWAY_NODE_MODULES": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    _, error = await demo.communicate()

    assert demo.returncode == 1
    assert error.decode().startswith(f"slipway: Azurite is not installed in {tmp_path}. Run `make install`")
    assert error.count(b"\n") == 1


@pytest.mark.thorough
async def test_a_part_that_dies_fails_the_demo_at_once_and_its_log_is_kept() -> None:
    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "slipway.main", "demo"), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert demo.stdout is not None
    output = []
    async for line in demo.stdout:
        output.append(line.decode())
        if address := re.search(r" is up: (http://\S+/api/ui/) ", output[-1]):
            async with aiohttp.ClientSession() as browser, browser.get(address[1]) as page:
                assert "<title>Slipway" in await page.text()
            children = psutil.Process(demo.pid).children(recursive=True)
            next(child for child in children if "local.batchai" in child.cmdline()).kill()

    whole = "".join(output)
    assert await demo.wait() == 1, whole
    assert "the emulator ended by itself, exit code -9" in whole
    assert not [child for child in children if child.is_running() and child.status() != "zombie"]
    place_of_copies = ROOT / whole.split("  logs: ")[1].split("/logs ")[0]
    assert (place_of_copies / "logs" / "host.log").is_file()
    shutil.rmtree(place_of_copies)
