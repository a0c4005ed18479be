"""Two teams whose members have keys with names: rights, loans of idle quota, the trail, and the command."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.acceptance.conftest import ROOT
from tests.acceptance.door import Door, eventually
from tests.acceptance.keys.keyed import KEYS, ask, keyed_stack, submit

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def keyed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    async with keyed_stack(tmp_path_factory.mktemp("keyed")) as opened:
        yield opened


async def until(door: Door, who: str, job: str, **members: Any) -> dict[str, Any]:
    """Wait until a job has these members."""
    stage: list[str] = []

    async def check() -> dict[str, Any] | None:
        _, view = await ask(door, who, "GET", f"jobs/{job}")
        stage[:] = [f"{view['state']} {view['attempt']}"]
        return view if members.items() <= view.items() else None

    return await eventually(check, f"{job} to have {members}", stage)


async def first_in_line(door: Door, who: str, job: str) -> dict[str, Any]:
    """Wait until a job is the first in its team's line, or is no longer accepted."""
    stage: list[str] = []

    async def check() -> dict[str, Any] | None:
        _, view = await ask(door, who, "GET", f"jobs/{job}")
        waiting = view.get("waiting") or {}
        stage[:] = [f"{view['state']} {waiting}"]
        is_first = (waiting.get("word"), waiting.get("position")) == ("TeamQuota", 1)
        return view if is_first or view["state"] != "accepted" else None

    return await eventually(check, f"{job} to be the first in its team's line", stage)


async def use(door: Door, who: str) -> dict[str, Any]:
    _, body = await ask(door, who, "GET", "usage")
    (team,) = body["teams"]
    return dict(team["use"])


async def test_idle_quota_is_lent_taken_back_by_preemption_and_lent_again(keyed: Door) -> None:
    own = await submit(keyed, "bob")
    borrowed = await submit(keyed, "bob")
    await until(keyed, "mia", own, state="running")
    await until(keyed, "mia", borrowed, state="running", attempt=1)
    assert (await use(keyed, "bob"))["borrowed"] == 1
    assert (await use(keyed, "liv"))["lent"] == 1

    lenders = await submit(keyed, "liv")
    await first_in_line(keyed, "liv", lenders)  # or the loan is back already
    await until(keyed, "liv", lenders, state="running")
    view = await until(keyed, "bob", borrowed, state="accepted", attempt=2)

    assert "another team needs the quota that it had lent" in view["message"], view
    # The pass in which an attempt moves leaves the job out of its team's line.
    view = await first_in_line(keyed, "bob", borrowed)
    assert view["state"] == "accepted", view

    async def waits() -> dict[str, Any] | None:
        shares = await use(keyed, "bob")
        return shares if (shares["borrowed"], shares["waiting"]) == (0, 1) else None

    await eventually(waits, "the quota to be back, and one job of the team to wait")

    assert (await ask(keyed, "liv", "POST", f"jobs/{lenders}/cancel"))[0] in (200, 202)
    again = await until(keyed, "bob", borrowed, state="running", attempt=2)
    assert again["id"] == borrowed
    for job in (borrowed, own):
        assert (await ask(keyed, "mia", "POST", f"jobs/{job}/cancel"))[0] in (200, 202)
        await until(keyed, "mia", job, state="cancelled")


async def test_a_key_opens_what_its_team_allows_and_an_unnamed_one_nothing(keyed: Door) -> None:
    job = await submit(keyed, "liv")
    expected = {"liv": (200, 202), "dan": (200, 200), "mia": (404, 404), "bob": (404, 404)}

    for who, statuses in expected.items():
        visible, _ = await ask(keyed, who, "GET", f"jobs/{job}")
        change, _ = await ask(keyed, who, "POST", f"jobs/{job}/cancel")
        assert (visible, change in (200, 202)) == (statuses[0], statuses[1] in (200, 202)), who
    for key, status in (("function-key", 403), ("", 401)):
        answered, body, headers = await keyed.call("GET", "jobs", x_functions_key=key)
        assert answered == status
        assert "key" in body["detail"]
        assert (headers.get("WWW-Authenticate") == "FunctionKey") == (status == 401)


async def test_the_command_logs_in_with_a_key_and_reads_the_trail_of_a_team(
    keyed: Door, tmp_path: Path
) -> None:
    job = await submit(keyed, "liv")
    await ask(keyed, "bob", "POST", f"jobs/{job}/cancel")
    await ask(keyed, "liv", "POST", f"jobs/{job}/cancel")

    async def slipway(*words: str, lines: str = "") -> tuple[int | None, str, str]:
        ran = await asyncio.create_subprocess_exec(
            *(*keyed.slipway, *words),
            cwd=ROOT,
            env={
                **{name: text for name, text in os.environ.items() if not name.startswith("SLIPWAY_")},
                "XDG_CONFIG_HOME": str(tmp_path),
            },
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = await ran.communicate(lines.encode())
        return ran.returncode, output.decode(), errors.decode()

    code, _, errors = await slipway("login", keyed.stack.host_url, lines="no-such-key\n")
    assert code != 0
    assert "is not a named key of this deployment" in errors
    assert "no-such-key" not in errors
    code, _, errors = await slipway("login", keyed.stack.host_url, lines=f"{KEYS['liv']}\n")
    assert code == 0, errors
    code, output, errors = await slipway("trail", "--about", job, "--json")
    assert code == 0, errors
    # 202 or 200 for what was done: a cluster may have ended the job at once.
    acts = [(one["by"], one["operation"], one["status"] // 100, one["team"]) for one in json.loads(output)]
    assert acts == [
        ("liv", "cancel_job", 2, "vision"),
        ("bob", "cancel_job", 4, "vision"),
        ("liv", "post_job", 2, "vision"),
    ]


async def test_no_key_is_in_a_log_or_in_storage(keyed: Door) -> None:
    written = [path for path in keyed.stack.logs.iterdir() if path.is_file()]
    texts = {path.name: path.read_text(errors="replace") for path in written}
    archive = keyed.blobs.get_container_client("archive")
    async for name in archive.list_blob_names():
        texts[name] = (await (await archive.download_blob(name)).readall()).decode()

    assert any(name.startswith("activity/") for name in texts)
    assert [(name, who) for name, text in texts.items() for who, key in KEYS.items() if key in text] == []


async def test_only_an_operators_key_opens_the_hosts_own_api(keyed: Door) -> None:
    """It runs a function without asking the app: so the message's sender could be any team."""
    address = "/admin/functions/accept_message"

    async def status(headers: dict[str, str]) -> int:
        async with keyed.http.post(
            address, json={"input": "{}"}, headers=headers, raise_for_status=False
        ) as one:
            return one.status

    assert await status({"x-functions-key": ""}) == 401
    assert await status({"x-functions-key": KEYS["bob"]}) == 401
    assert await status({"x-functions-key": KEYS["mia"]}) == 401
    assert await status({"x-functions-key": KEYS["dan"]}) == 202
