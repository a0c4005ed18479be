"""The doors through which the files of a job come out; each gives path → bytes, for the paths it is given.

One is named after its operation of the API, or after its command: a test compares them with those that exist.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import zipfile
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp

from slipway.client.files.walk import walk
from slipway.client.service import service
from tests.acceptance.door import Door

#: Requests, and commands, at once.
_PARALLEL = 8


class Outlet:
    """One output directory of a job that has ended, and a folder for what comes home."""

    def __init__(self, door: Door, job: str, directory: str, home: Path) -> None:
        self.door, self.job, self.directory, self.home = door, job, directory, home
        self._several = asyncio.Semaphore(_PARALLEL)

    async def command(self, *words: str, code: int = 0) -> tuple[bytes, str]:
        """What a command that ends with this code prints, and says."""
        command = await asyncio.create_subprocess_exec(
            *(*self.door.slipway, words[0], "--url", self.door.stack.host_url, "--key", self.door.key),
            *words[1:],
            cwd=self.home,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await command.communicate()
        assert command.returncode == code, (words, err)
        return out, err.decode()

    async def get(self, place: str, **query: str) -> bytes:
        """A call of the API; each step of the path is encoded."""
        encoded = "/".join(quote(step, safe="") for step in place.split("/"))
        async with self.door.http.get(f"/api/jobs/{self.job}/{encoded}", params=query) as answer:
            body = await answer.read()
            assert answer.status == 200, (place, query, body)
            return body

    async def pages(self, operation: str, member: str, path: str) -> list[dict[str, Any]]:
        """Every entry of a list of a folder."""
        result, after = list[dict[str, Any]](), dict[str, str]()
        while True:
            query = {"directory": self.directory, "path": path, **after}
            page = json.loads(await self.get(operation, **query))
            result += page[member]
            if not page["next"]:
                return result
            after = {"after": page["next"]}

    async def each(self, paths: Iterable[str], read: Callable[[str], Awaitable[bytes]]) -> dict[str, bytes]:
        """Several at once."""

        async def one(path: str) -> tuple[str, bytes]:
            async with self._several:
                return path, await read(path)

        return dict(await asyncio.gather(*map(one, paths)))


Give = Callable[[Outlet, Sequence[str]], Awaitable[dict[str, bytes]]]


def _folders(paths: Iterable[str]) -> list[str]:
    return sorted({path.rpartition("/")[0] for path in paths})


def _bytes_of(folder: Path) -> dict[str, bytes]:
    """The files below a local folder; names are bytes, and Python reads them as they are."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


async def _file(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    return await outlet.each(paths, lambda path: outlet.get(f"files/{outlet.directory}/{path}"))


async def _files(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    return _of_sizes({
        f"{folder}/{entry['name']}": entry["bytes"]
        for folder in _folders(paths)
        for entry in await outlet.pages("files", "files", folder)
        if entry["bytes"] is not None
    })  # fmt: skip


def _of_sizes(sizes: Mapping[str, int]) -> dict[str, bytes]:
    """A list has no bytes, but how many: the file's own ones, if there are as many."""
    return {path: path.encode() if len(path.encode()) == size else b"" for path, size in sizes.items()}


async def _zip(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    """The directory, and each folder by itself."""
    result: dict[str, bytes] = {}
    for folder in (".", *_folders(paths)[:: len(_folders(paths)) // 5]):
        archive = await outlet.get("zip", directory=outlet.directory, path=folder)
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            files = {name: opened.read(name) for name in opened.namelist()}
        result |= {name.removeprefix(f"{outlet.directory}/"): content for name, content in files.items()}
    return result


async def _addresses(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    urls = {
        f"{folder}/{one['name']}": one["url"]
        for folder in _folders(paths)
        for one in await outlet.pages("addresses", "addresses", folder)
    }
    async with aiohttp.ClientSession() as http:

        async def read(path: str) -> bytes:
            async with http.get(urls[path]) as answer:
                assert answer.status == 200, path
                return await answer.read()

        return await outlet.each(urls, read)


async def _log(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    return await outlet.each(paths, lambda path: outlet.get("log", file=path))


async def _live(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    async def read(path: str) -> bytes:
        answer = json.loads(await outlet.get("live", file=path))
        (part,) = [one for one in answer["log"] if one["file"] == path]
        return base64.b64decode(part["data"])

    return await outlet.each(paths, read)


async def _run(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    """`slipway run --to out` made the job, and has ended."""
    return _bytes_of(outlet.home / "out" / outlet.directory)


async def _download(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    await outlet.command("download", outlet.job, outlet.directory, "--to", "fetched")
    return _bytes_of(outlet.home / "fetched" / outlet.directory)


async def _tree(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    """`slipway files --tree`, and one folder with its files."""
    listed, _ = await outlet.command("files", outlet.job, outlet.directory, "--tree", "--json")
    sizes = {file["name"].removeprefix(f"{outlet.directory}/"): file["bytes"] for file in json.loads(listed)}
    for folder in _folders(paths)[:: len(_folders(paths)) // 3]:
        place = f"{outlet.directory}/{folder}"
        (entry, *_) = json.loads((await outlet.command("files", outlet.job, place, "--json"))[0])
        assert f"{folder}/{entry['name']}" in sizes
    return _of_sizes(sizes)


async def _cat(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    async def read(path: str) -> bytes:
        return (await outlet.command("cat", outlet.job, f"{outlet.directory}/{path}"))[0]

    return await outlet.each(paths, read)


async def _log_command(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    """A log is lines: each ends with a line break here."""

    async def read(path: str) -> bytes:
        return (await outlet.command("log", outlet.job, "--file", path))[0].removesuffix(b"\n")

    return await outlet.each(paths, read)


async def _python(outlet: Outlet, paths: Sequence[str]) -> dict[str, bytes]:
    """`walk`, which `Job.files` and `Job.download` of the client for Python call, for each name by itself."""
    async with service(outlet.door.stack.host_url, outlet.door.key) as api:
        result: dict[str, int] = {}
        for path in paths:
            whole = await walk(api, outlet.job, [outlet.directory], [f"{outlet.directory}/{path}"])
            result |= {file.path: file.size for file in whole.files}
    return _of_sizes(result)


#: Operation of the API → what it gives.
OPERATIONS: dict[str, Give] = {
    "get_file": _file,
    "get_files": _files,
    "get_zip": _zip,
    "get_addresses": _addresses,
    "get_log": _log,
    "get_live": _live,
}
#: Command → what it gives.
COMMANDS: dict[str, Give] = {
    "run": _run,
    "download": _download,
    "files": _tree,
    "cat": _cat,
    "log": _log_command,
    "Job.files": _python,
}
#: Those that take one name at a time: a folder of each kind of name goes through them, of others all names.
SLOW = ("cat", "log", "Job.files")
#: The directories of a door, where not "SHARE" alone: only blobs have addresses, logs have one directory.
DIRECTORIES = {
    "get_addresses": ("BLOBS",),
    "run": ("SHARE", "BLOBS"),
    "download": ("SHARE", "BLOBS"),
    "get_log": ("stdouterr",),
    "get_live": ("stdouterr",),
    "log": ("stdouterr",),
}
