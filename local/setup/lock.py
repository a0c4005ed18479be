"""`python -m local.setup.lock [--upgrade]`: writes requirements*.txt, with hashes, and constraints.txt.

The groups of pyproject.toml say what we ask for; uv finds what that brings, for every platform and Python at
once, and the hash of each file. A version that is locked stays, unless it fits no more, or `--upgrade` asks
for newer ones.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local.setup.tools import ROOT, tool

_OLDEST = "3.11"
_ALL = "constraints.txt"
_APP, _TRANSITIVE = "requirements.txt", "requirements-lock.txt"
_WRITTEN = "# {about}\n# Written by `make lock` from pyproject.toml.\n"
_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True)
class Lock:
    """A file with all of some groups but for what the files that it includes have already."""

    file: str
    about: str
    groups: tuple[str, ...]
    includes: tuple[str, ...] = ()


_LOCKS = (
    Lock(
        "requirements-telemetry.txt",
        'For metrics and traces. Add "-r requirements-telemetry.txt" to requirements.txt to deploy them.',
        ("telemetry",),
    ),
    Lock("requirements-local.txt", "For the local stack and the command line.", ("local",), (_APP,)),
    Lock(
        "requirements-dev.txt",
        "For tests and checks.",
        ("local", "telemetry", "dev"),
        ("requirements-local.txt", "requirements-telemetry.txt"),
    ),
    Lock(
        "requirements-bench.txt",
        "For `make bench`, which wants a redis-server as well.",
        ("local", "telemetry", "dev", "bench"),
        ("requirements-dev.txt",),
    ),
    Lock(
        "requirements-browser.txt",
        "For `make test-browser`, which wants Debian's Chromium as well.",
        ("local", "telemetry", "dev", "browser"),
        ("requirements-dev.txt",),
    ),
    Lock("requirements-nodes.txt", "What is installed on the nodes of the local clusters.", ("nodes",)),
    Lock("requirements-node.txt", "For a machine without a node that is new enough.", ("node",)),
)
#: In environments of their own, without the versions of the rest.
_APART = (
    Lock(
        "requirements-tools.txt",
        "Programs for work on the project, in environments of their own.",
        ("tools",),
    ),
    Lock("requirements-fuzz.txt", "For `make fuzz`.", ("fuzz",)),
)


def main(arguments: Sequence[str]) -> int:
    """Write every requirements file, with the hashes of all packages."""
    more = tuple(arguments)
    groups = sorted({group for lock in _LOCKS for group in lock.groups})
    everything = _compiled(groups, *more, constraints=ROOT / _ALL, app=True)
    about = "Every package that an installation may bring, direct or not, at one version: what is audited."
    (ROOT / _ALL).write_text(_WRITTEN.format(about=about) + everything)
    fixed = ("--generate-hashes", "--constraints", _ALL)
    app = _blocks(_compiled((), *fixed, app=True))
    _write_app(app)
    dependencies = {_APP: app}
    for lock in _LOCKS:
        blocks = _blocks(_compiled(lock.groups, *fixed, app=_APP in _included(lock)))
        dependencies[lock.file] = blocks
        _write(
            lock, [block for block in blocks if not any(block in dependencies[f] for f in _included(lock))]
        )
    for lock in _APART:
        _write(
            lock, _blocks(_compiled(lock.groups, "--generate-hashes", *more, constraints=ROOT / lock.file))
        )
    return 0


def _included(lock: Lock) -> set[str]:
    """The files that a file includes, and those that they include."""
    direct = [other for other in _LOCKS if other.file in lock.includes]
    return set(lock.includes).union(*map(_included, direct))


def _compiled(
    groups: Sequence[str], *options: str, app: bool = False, constraints: Path | None = None
) -> str:
    """What uv resolves for groups, and for the function app on request; `constraints` keeps versions."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.txt"
        if constraints is not None and constraints.exists():
            out.write_text(constraints.read_text())
        argv = [str(tool("uv")), "pip", "compile", "--quiet", "--universal", f"--python-version={_OLDEST}"]
        argv += ["--no-header", "--no-annotate", f"--output-file={out}", *options]
        argv += [f"--group={group}" for group in (*groups, *(["app"] if app else []))]
        subprocess.run(argv, cwd=ROOT, check=True)
        return out.read_text()


def _blocks(text: str) -> list[str]:
    """The entries of a file, each with its lines of hashes."""
    return re.findall(r"^\S.*\n(?:    .*\n)*", text, re.MULTILINE)


def _write_app(blocks: Sequence[str]) -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    direct = {_name(requirement) for requirement in groups["app"]}
    about = "What the function app asks for; a deployment and the local stack install it."
    own = "".join(block for block in blocks if _name(block) in direct)
    (ROOT / _APP).write_text(f"{_WRITTEN.format(about=about)}-r {_TRANSITIVE}\n{own}")
    dependencies = "".join(block for block in blocks if _name(block) not in direct)
    (ROOT / _TRANSITIVE).write_text(
        _WRITTEN.format(about="The dependencies of the packages in requirements.txt.") + dependencies
    )


def _write(lock: Lock, blocks: Sequence[str]) -> None:
    includes = "".join(f"-r {file}\n" for file in lock.includes)
    (ROOT / lock.file).write_text(_WRITTEN.format(about=lock.about) + includes + "".join(blocks))


def _name(requirement: str) -> str:
    match = _NAME.match(requirement)
    if match is None:
        raise ValueError(f"{requirement!r} names no package")
    return re.sub(r"[-_.]+", "-", match[0]).lower()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
