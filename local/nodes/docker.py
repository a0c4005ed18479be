"""Docker and Podman: builds their command lines (pure), and finds the one that answers.

No secret is ever in a command line: what is secret goes through standard input.
"""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

#: Seconds that a runtime has to answer.
_PATIENCE = 10.0
#: Runtime → the query for its version and whether root in a container is root outside.
_INFO = {
    "docker": "{{.ServerVersion}} {{.SecurityOptions}}",
    "podman": "{{.Version.Version}} rootless={{.Host.Security.Rootless}}",
}
#: The first process of a container: waits for SIGTERM, then gives all others so many seconds to end.
_WAIT = (
    "trap 'kill -TERM -1; i=0; while [ $i -lt %d0 ]; do kill -0 -1 || exit 0; sleep 0.1; i=$((i + 1)); done; "
    "exit 0' TERM; while :; do sleep 86400 & wait $!; done"
)
#: A process gets its environment through standard input.
_START = 'eval "$(cat)"; exec "$@" </dev/null'


@dataclass(frozen=True)
class ContainerRuntime:
    """A runtime by its program; `rootless`: root in its containers is our own user outside."""

    name: str
    program: str
    rootless: bool = False
    #: seconds from SIGTERM to SIGKILL
    grace: int = 2

    def run(
        self, container: str, image: str, binds: Sequence[Path], shm_size: str = "", gpus: bool = False
    ) -> tuple[str, ...]:
        """Start a container that waits. It sees `binds` at their own paths, and has the machine's network."""
        volumes = [word for path in binds for word in ("--volume", f"{path}:{path}")]
        devices: tuple[str, ...] = ()
        if gpus:
            devices = ("--gpus", "all") if self.name == "docker" else ("--device", "nvidia.com/gpu=all")
        return (
            *(self.program, "run", "--detach", "--pull", "never", "--name", container),
            *("--network", "host", "--user", "0", "--security-opt", "label=disable"),
            *("--stop-timeout", str(self.grace + 1), *volumes, *devices),
            *(("--shm-size", shm_size) if shm_size else ()),
            *("--entrypoint", "/bin/sh", image, "-c", _WAIT % self.grace),
        )

    def execute(self, container: str, directory: Path, argv: Sequence[str]) -> tuple[str, ...]:
        """Run a command in a container; standard input has to set its environment, see `exports`."""
        where = ("--interactive", "--workdir", str(directory), container)
        return (self.program, "exec", *where, "/bin/sh", "-c", _START, "sh", *argv)

    def login(self, user: str, server: str) -> tuple[str, ...]:
        """Log in to a registry; the password is standard input."""
        return (self.program, "login", "--username", user, "--password-stdin", server)

    def pull(self, image: str) -> tuple[str, ...]:
        """The command that fetches an image."""
        return (self.program, "pull", "--quiet", image)

    def has(self, image: str) -> tuple[str, ...]:
        """Succeeds if the image is there."""
        return (self.program, "image", "inspect", image)

    def running(self, container: str) -> tuple[str, ...]:
        """Says `true` if the container runs."""
        return (self.program, "container", "inspect", "--format", "{{.State.Running}}", container)

    def stop(self, container: str) -> tuple[str, ...]:
        """Ask everything in a container to end, and end it."""
        return (self.program, "stop", "-t", str(self.grace + 1), container)

    def remove(self, container: str) -> tuple[str, ...]:
        """Remove a container, even a running one."""
        return (self.program, "rm", "--force", container)

    def endpoint(self) -> tuple[str, ...]:
        """Prints Docker's address: with a login folder of its own, the program no longer finds it."""
        return (self.program, "context", "inspect", "--format", "{{.Endpoints.docker.Host}}")

    def own_login(self, folder: Path) -> dict[str, str]:
        """Variables by which the program keeps logins in a folder, not in its user's files."""
        if self.name == "docker":
            return {"DOCKER_CONFIG": str(folder)}
        return {"REGISTRY_AUTH_FILE": str(folder / "auth.json")}


def registry(image: str, server_url: str) -> str:
    """The host to log in to: the one that is named, else that of the image's name."""
    if server_url:
        return urlsplit(server_url).netloc or server_url
    first, slash, _ = image.partition("/")
    return first if slash and (set(first) & {".", ":"} or first == "localhost") else "docker.io"


class Answer(NamedTuple):
    """The exit code of a command, and what it wrote."""

    code: int
    out: str
    err: str


async def call(argv: Sequence[str], text: str = "", env: Mapping[str, str] | None = None) -> Answer:
    """Run a command with that standard input; cancelling ends it."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(os.environ) | dict(env or {}),
    )
    try:
        out, err = await process.communicate(text.encode())
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    return Answer(process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace"))


async def answering() -> ContainerRuntime | None:
    """The first runtime that answers in time."""
    for name, question in _INFO.items():
        program = shutil.which(name)
        if program is None:
            continue
        try:
            async with asyncio.timeout(_PATIENCE):
                answer = await call((program, "info", "--format", question))
        except (TimeoutError, OSError):
            continue
        if answer.code == 0 and answer.out[:1].isdigit():
            return ContainerRuntime(
                name, program, any(mark in answer.out for mark in ("name=rootless", "rootless=true"))
            )
    return None
