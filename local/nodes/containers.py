"""Where the processes of a job run: on the host, or in one container on each node."""

import asyncio
import json
import math
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Protocol

from local.nodes.docker import ContainerRuntime, answering, call, registry
from local.nodes.fault import Failed, Fault
from local.nodes.machine import Directories
from local.nodes.work import Find, Image

#: Variables that both a node and an image set.
_OF_THE_NODE = ("PATH", "HOME", "LANG")
NO_RUNTIME = (
    "No container runtime answers. Start Docker or Podman, or start the emulator with --containers auto, "
    "to run such jobs on the host"
)
#: Seconds that a job's containers have to end.
_PATIENCE = 60.0


class ContainerError(Failed):
    """The job's container cannot be started."""


@dataclass(frozen=True)
class Command:
    """A command to start on this machine, and its standard input."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    text: str = field(default="", repr=False)


class Site(Protocol):
    """Where processes run, on the nodes of a job by their index."""

    def command(self, node: int, argv: tuple[str, ...], env: Mapping[str, str]) -> Command:
        """How to start a process there."""

    async def programs(self, env: Mapping[str, str], names: Sequence[str]) -> Find:
        """A way to look up these programs, on the first node."""

    def container(self, node: int) -> str:
        """The name of the container of a node; "" on the machine itself."""

    async def close(self) -> None:
        """End everything that still runs there."""


class Host:
    """The machine itself, for jobs without an image."""

    def command(self, node: int, argv: tuple[str, ...], env: Mapping[str, str]) -> Command:
        """The process as it is."""
        return Command(argv, env)

    async def programs(self, env: Mapping[str, str], names: Sequence[str]) -> Find:
        """Looks up programs on the PATH of the nodes."""
        return lambda name: shutil.which(name, path=env["PATH"])

    def container(self, node: int) -> str:
        """There is none."""
        return ""

    async def close(self) -> None:
        """The launchers end the processes that they have started."""


class Containers:
    """One container on each node. `own` are the variables that the job itself defines.

    Every container sees the directories of all nodes at their own paths: under mpirun, the ranks of every
    node are in the first container, each in the directories of its node.
    """

    def __init__(
        self, runtime: ContainerRuntime, name: str, directories: Sequence[Directories], own: frozenset[str]
    ) -> None:
        self._runtime = runtime
        self._names = [f"{name}-{index}" for index in range(len(directories))]
        self._node_directories = directories
        self._own = own
        self._written: list[Path] = []

    async def open(self, image: Image, volumes: Mapping[Path, bool], gpus: bool) -> None:
        """Fetch the image and start the containers, unless they run already. Raises ContainerError.

        `volumes`: further directories that they see → whether the emulator owns everything in them.
        """
        roots = [directories.root for directories in self._node_directories]
        self._written = [*roots, *(path for path, ours in volumes.items() if ours)]
        if (await call(self._runtime.has(image.name))).code:
            await self._fetch(image)
        binds = [*roots, *volumes]
        commands = [self._runtime.run(name, image.name, binds, image.shm_size, gpus) for name in self._names]
        starts = [
            self._start(name, argv, image.name) for name, argv in zip(self._names, commands, strict=True)
        ]
        # Wait for all of them, so that the cleanup after a failure meets no container that is starting.
        for result in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result

    def command(self, node: int, argv: tuple[str, ...], env: Mapping[str, str]) -> Command:
        """The process, started by the runtime's program, which has the emulator's own environment."""
        directories = self._node_directories[node]
        text = exports(env, self._own, directories.job / "config")
        return Command(
            self._runtime.execute(self._names[node], directories.work, argv), dict(os.environ), text
        )

    async def programs(self, env: Mapping[str, str], names: Sequence[str]) -> Find:
        """The programs of the image, with those that the preparation added."""
        search = f"for name in {shlex.join(names)}; do command -v $name; done; true"
        command = self.command(0, ("/bin/sh", "-c", search), env)
        paths = (await call(command.argv, command.text)).out.split()
        return {path.rpartition("/")[2]: path for path in paths}.get

    def container(self, node: int) -> str:
        """The name by which the runtime knows it."""
        return self._names[node]

    async def close(self) -> None:
        """End and remove them. Files that root wrote in them become ours, so that they can be deleted."""
        # A runtime that was stopped or uninstalled meanwhile must not hold the job forever.
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                if self._written and not self._runtime.rootless and os.getuid():
                    owner = f"{os.getuid()}:{os.getgid()}"
                    where = map(str, self._written)
                    give = ("find", *where, "-user", "0", "-exec", "chown", "-h", owner, "{}", "+")
                    await call(self._runtime.execute(self._names[0], Path("/"), give))
                await asyncio.gather(*map(self._end, self._names))

    async def _end(self, name: str) -> None:
        await call(self._runtime.stop(name))
        await call(self._runtime.remove(name))

    async def _fetch(self, image: Image) -> None:
        with tempfile.TemporaryDirectory(prefix="slipway-login-") as folder:
            env = {}
            if image.username:
                env = self._runtime.own_login(Path(folder))
                if self._runtime.name == "docker":
                    env["DOCKER_HOST"] = (await call(self._runtime.endpoint())).out.strip()
                login = self._runtime.login(image.username, registry(image.name, image.server))
                await _run_checked(login, image.name, image.password, env)
            await _run_checked(self._runtime.pull(image.name), image.name, "", env)

    async def _start(self, name: str, argv: Sequence[str], image: str) -> None:
        if (await call(self._runtime.running(name))).out.strip() == "true":
            return
        await call(self._runtime.remove(name))
        await _run_checked(argv, image)


def exports(env: Mapping[str, str], own: frozenset[str], config: Path) -> str:
    """Shell text that sets a job's environment in an image, which keeps its own PATH, HOME and LANG."""
    lines = [
        f"export {name}={shlex.quote(value)}"
        for name, value in env.items()
        if name not in _OF_THE_NODE or name in own
    ]
    return "\n".join([*lines, f'export PATH={shlex.quote(str(config))}:"$PATH"', ""])


async def runtime_for(setting: str, folder: Path, name: str, grace: float) -> ContainerRuntime | None:
    """The runtime that the setting selects; None for the host. A process that continues the run keeps it.

    `grace`: the seconds of its processes from SIGTERM to SIGKILL.

    It is stored in a folder that no job sees, because it names a program to start. Raises ContainerError.
    """
    file = _decision(folder, name)
    if not file.exists():
        runtime = None if setting == "host" else await answering()
        if runtime is None and setting == "require":
            raise ContainerError(Fault(code="ContainerRuntimeNotFound", message=NO_RUNTIME))
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(runtime and asdict(replace(runtime, grace=math.ceil(grace)))))
    return _decided(file)


def left_over_site(folder: Path, name: str, directories: Sequence[Directories]) -> Site:
    """Where an earlier emulator began this run; the caller closes it."""
    runtime = _decided(_decision(folder, name))
    return Containers(runtime, name, directories, frozenset()) if runtime else Host()


def forget(folder: Path, name: str) -> None:
    """Forget the decision for a run, after its end."""
    _decision(folder, name).unlink(missing_ok=True)


def _decision(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def _decided(file: Path) -> ContainerRuntime | None:
    try:
        document = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return ContainerRuntime(**document) if document else None


async def _run_checked(
    argv: Sequence[str], image: str, text: str = "", env: Mapping[str, str] | None = None
) -> None:
    answer = await call(argv, text, env)
    if answer.code:
        lines = (answer.err or answer.out).strip().splitlines() or [f"exit code {answer.code}"]
        message = f"The container cannot be started: {' '.join(argv[:2])}: {lines[-1]}"
        details = {"imageName": image}
        raise ContainerError(Fault(code="FailedStartingContainer", message=message, details=details))
