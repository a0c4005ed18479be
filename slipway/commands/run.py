"""`slipway run`: upload a script or a folder, follow its job, and bring home what it wrote."""

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.settings import Settings
from slipway.client.output import patiently
from slipway.client.service import Service, service
from slipway.client.watch import ENDED, job_news
from slipway.commands.document.compose import Choices, compose
from slipway.commands.drop import check, target_of, to_upload, upload, waits_of
from slipway.commands.jobs import why
from slipway.commands.output import log
from slipway.commands.output.download import fetch
from slipway.commands.output.tail import last_errors
from slipway.failure import Failure
from slipway.settings import load

_JOB_FILE = "job.json"
#: Seconds between two looks at the job.
_EVERY = 1.0
#: The exit code of a shell command that Ctrl-C ended.
_INTERRUPTED = 130
#: Looks after which a person hears what may be wrong: an app looks at a quiet folder within seconds.
_LOOKS = 60
#: Jobs in which the new one is looked for.
_LISTED = 50


@dataclass(frozen=True)
class Options:
    """How to run it, and what becomes of its output."""

    choices: Choices
    name: str = ""
    to: Path | None = None
    detach: bool = False
    keep: bool = False


def options(
    arguments: Sequence[str],
    nodes: int,
    image: str,
    env: Sequence[str],
    name: str,
    to: Path | None,
    *,
    detach: bool,
    keep: bool,
) -> Options:
    """The options of the command line. Raises Failure for what is no NAME=VALUE."""
    environment = {}
    for pair in env:
        variable, equals, value = pair.partition("=")
        if not equals or not variable.isidentifier():
            raise Failure(f"--env {pair}: write NAME=VALUE")
        environment[variable] = value
    return Options(Choices(nodes, image, environment, tuple(arguments)), name, to, detach, keep)


def run(path: Path, options: Options, url: str, key: str, settings_file: Path | None) -> int:
    """Upload, follow and download. The exit code is the job's, 1 where it has none. Raises Failure."""
    settings, _ = load(settings_file, os.environ)
    with staged(path, options, settings.text("SLIPWAY_STDOUT_PREFIX")) as folder:
        check(folder)
        job_id = asyncio.run(_start(settings, folder, options.name, url, key))
    if options.detach:
        print(job_id)
        return 0
    _say(f"the job is {job_id}")
    try:
        return asyncio.run(_finish(job_id, options.to, url, key))
    except KeyboardInterrupt:
        return _interrupted(job_id, url, key)


@contextmanager
def staged(path: Path, options: Options, prefix: str) -> Iterator[Path]:
    """The folder to upload, with a job.json. Raises Failure."""
    if path.is_dir() and (path / _JOB_FILE).is_file():
        if options.choices.anything or options.keep:
            raise Failure(f"{path / _JOB_FILE} says how the job runs; change it there, or run a script alone")
        yield path
        return
    script = path if path.is_file() else _only_script(path)
    folder = target_of(script.parent if path.is_dir() else script.with_suffix(""), options.name)
    text = json.dumps(compose(script.name, folder, options.choices, prefix), indent=2) + "\n"
    beside = script.parent / _JOB_FILE
    if options.keep:
        try:
            with beside.open("x", encoding="utf-8") as stream:
                stream.write(text)
        except FileExistsError:
            raise Failure(f"{beside} is there already; run its folder, or leave out --save") from None
        _say(f"wrote {beside}")
    else:
        _say(f"it runs by this job.json (--save keeps it):\n{text.rstrip()}")
    with tempfile.TemporaryDirectory(prefix="slipway-run-") as base:
        place = Path(base) / folder.rpartition("/")[2]
        for file in to_upload(path) if path.is_dir() else [script]:
            copy = place / file.relative_to(script.parent)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        (place / _JOB_FILE).write_text(text, encoding="utf-8")
        yield place


def _only_script(folder: Path) -> Path:
    if not folder.is_dir():
        raise Failure(f"{folder} is neither a script nor a folder")
    scripts = sorted(folder.glob("*.py")) or sorted(folder.glob("*.sh"))
    if len(scripts) != 1:
        count = f"{len(scripts)} scripts" if scripts else "no script"
        raise Failure(f"{folder} has {count} and no job.json; name the script that runs, or write a job.json")
    return scripts[0]


async def _start(settings: Settings, folder: Path, name: str, url: str, key: str) -> str:
    """Upload, and the id of the job that begins by it. Raises Failure."""
    receipt = re.compile(rf"runs/{re.escape(target_of(folder, name))}/[^/]+/receipt\.json")

    async def ids(api: Service) -> set[str]:
        jobs = await api.jobs({"source": "drop,inventory"}, _LISTED)
        return {job["id"] for job in jobs.jobs if receipt.fullmatch(job["receipt"])}

    async with service(url, key) as api:
        before = await ids(api)
        names = await upload(settings, folder, name)
        target = f"{names[0].partition('/')[0]}/{target_of(folder, name)}"
        _say(f"uploaded {len(names)} files to {target}/; the job begins when they are quiet")
        if waits := await waits_of(settings, names):
            raise Failure(f"nothing runs yet: {'; '.join(waits)}")
        looks = 0
        while not (new := await patiently(lambda: ids(api)) - before):
            await asyncio.sleep(_EVERY)
            if (looks := looks + 1) == _LOOKS:
                _say(
                    "there is no job yet; does the app see the container? Ask slipway audit, and …/api/health"
                )
        return new.pop()


async def _finish(job_id: str, to: Path | None, url: str, key: str) -> int:
    """Follow the job to its end, and save what it wrote."""
    async with service(url, key) as api:
        news = asyncio.create_task(_report(api, job_id))
        try:
            await log.read(api, job_id, "", sys.stdout.buffer, follow=True)
            await news  # it ends with the job as well
        finally:
            news.cancel()
        job = await patiently(lambda: api.job(job_id))
        if job["state"] != "succeeded":
            sys.stderr.writelines(f"{line}\n" for line in await last_errors(api, job))
            _say(f"{job['state']}: {job.get('message') or 'no reason is known'}; more: slipway show {job_id}")
            return log.exit_code(job)
        return await fetch(api, job_id, await patiently(lambda: api.outputs(job_id)), (), to, _say)


async def _report(api: Service, job_id: str) -> None:
    """What happens to the job and what it waits for, on standard error, until it ends."""
    last: dict[str, Any] | None = None
    waits = ""
    while True:
        job = await patiently(lambda: api.job(job_id))
        for line in job_news(last, job):
            _say(line.text)
        last, before = job, waits
        waits = why(job) if "waiting" in job else ""
        if waits and waits != before:
            _say(f"  {waits}")
        if job["state"] in ENDED:
            return
        await asyncio.sleep(_EVERY)


def _interrupted(job_id: str, url: str, key: str) -> int:
    """Ctrl-C: the job goes on, unless a person at a terminal says otherwise."""
    if sys.stdin.isatty() and _confirmed("cancel the job, too? [y/N] "):
        asyncio.run(_cancel(job_id, url, key))
        _say(f"{job_id} was asked to end")
    else:
        commands = ", ".join(f"slipway {name} {job_id}" for name in ("log --follow", "download", "cancel"))
        _say(f"{job_id} goes on; {commands}")
    return _INTERRUPTED


def _confirmed(question: str) -> bool:
    """Whether the answer is yes; another Ctrl-C is a no."""
    sys.stderr.write(f"\n{question}")
    sys.stderr.flush()
    try:
        return sys.stdin.readline().strip().lower() in ("y", "yes")
    except KeyboardInterrupt:
        return False


async def _cancel(job_id: str, url: str, key: str) -> None:
    async with service(url, key) as api:
        await api.cancel(job_id)


def _say(text: str) -> None:
    sys.stderr.write(f"slipway: {text}\n")
