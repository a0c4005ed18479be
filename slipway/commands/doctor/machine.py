"""The Python that runs the command, and the disk for downloads."""

import shutil
import sys
from importlib import metadata
from pathlib import Path

from shared import __version__
from slipway.commands.clone import DISTRIBUTION
from slipway.commands.doctor.findings import Finding, Options, fail, ok, warn

_TESTED = "Programming Language :: Python :: "
#: Free bytes below which saving fails soon, and below which large outputs do not fit.
_NOTHING, _LITTLE = 200 << 20, 2 << 30


async def check(_: Options) -> list[Finding]:
    """The version of Python, and the free space of the current directory."""
    return [python(), disk(Path.cwd())]


def python(version: tuple[int, int] | None = None) -> Finding:
    """Whether Slipway was tested with this Python; `version` replaces its version, in tests."""
    major, minor = version or sys.version_info[:2]
    what = f"Python {sys.version.split()[0]} runs slipway {__version__}, from {sys.prefix}"
    tested = _tested()
    if tested and f"{major}.{minor}" not in tested:
        return warn("python", f"{what}; it was not tested with {major}.{minor}", f"use {tested[-1]}")
    return ok("python", what)


def disk(folder: Path, free: int | None = None) -> Finding:
    """Whether downloads and the local stack have room; `free` replaces the free bytes, in tests."""
    space = shutil.disk_usage(folder).free if free is None else free
    text = f"{space / (1 << 30):,.1f} GiB free at {folder}"
    if space < _NOTHING:
        return fail("disk", text, "delete what you do not need, or work in another directory")
    if space < _LITTLE:
        return warn("disk", text, "make room before you download large outputs or run a local stack")
    return ok("disk", text)


def _tested() -> list[str]:
    """The versions of Python in the package's metadata; none if it was not installed."""
    try:
        names = metadata.metadata(DISTRIBUTION).get_all("Classifier") or []
    except metadata.PackageNotFoundError:
        return []
    return [name.removeprefix(_TESTED) for name in names if name.startswith(_TESTED)]
