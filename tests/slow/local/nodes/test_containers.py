"""Container runtimes and the shell in an image, as processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from local.nodes.containers import exports
from local.nodes.docker import ContainerRuntime, answering
from tests.unit.local.nodes.test_docker import DOCKER


def test_an_environment_of_any_characters_arrives_as_it_is() -> None:
    env = {"A": "two\nlines", "B": "it's $HOME; `id`", "PATH": "/of/the/node", "HOME": "/node", "C": ""}
    argv = DOCKER.execute("name", Path("/"), (sys.executable, "-c", "import os; print(dict(os.environ))"))
    text = exports(env, frozenset({"HOME"}), Path("/job/config"))

    # What the runtime's program would start in the container.
    inside = argv[argv.index("name") + 1 :]
    out = subprocess.run(inside, input=text, capture_output=True, text=True, env={"PATH": "/bin"}, check=True)

    result = eval(out.stdout)
    assert {name: result[name] for name in ("A", "B", "C", "HOME", "PATH")} == {
        "A": "two\nlines",
        "B": "it's $HOME; `id`",
        "C": "",
        "HOME": "/node",
        "PATH": "/job/config:/bin",
    }


async def test_an_runtime_that_does_not_answer_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = {
        "docker": "echo Cannot connect to the Docker daemon >&2; exit 1",
        "podman": "echo 4.3.1 rootless=true",
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setitem(os.environ, "PATH", str(tmp_path))

    assert await answering() == ContainerRuntime("podman", str(tmp_path / "podman"), rootless=True)
    (tmp_path / "podman").unlink()
    assert await answering() is None
