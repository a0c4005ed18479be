"""Where the processes of a job run: on the host, or in one container on each node."""

import asyncio
import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from local.batchai.engines import Engine, answering, call, registry
from local.batchai.faults import Failed
from local.batchai.layout import Place
from local.batchai.records import Fault

#: What a node has of its own, and an image as well.
_OF_THE_NODE = ("PATH", "HOME", "LANG")
#: In a job's directory of its first node: where the run takes place.
_DECISION = "engine.json"
NO_ENGINE = (
    "No container engine answers. Start Docker or Podman, or start the emulator with --containers auto, "
    "to run such jobs on the host"
)
#: Seconds for the end of a job's containers.
_PATIENCE = 60.0
#: Programs that toolkits look for.
_PROGRAMS = ("mpirun", "cntk", "caffe")


class ContainerError(Failed):
    """The job's container cannot be started."""


@dataclass(frozen=True)
class Command:
    """What to start on this machine, and its standard input."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    text: str = field(default="", repr=False)


class Site(Protocol):
    """A place for processes, on the nodes of a job by their index."""

    def command(self, node: int, argv: tuple[str, ...], env: Mapping[str, str]) -> Command:
        """How to start a process there."""

    async def programs(self, env: Mapping[str, str]) -> Callable[[str], str | None]:
        """A way to look a program up, on the first node."""

    async def close(self) -> None:
        """End everything that still runs there."""


class Host:
    """The machine itself."""

    def command(self, node: int, argv: tuple[str, ...], env: Mapping[str, str]) -> Command:
        """The process as it is."""
        return Command(argv, env)

    async def programs(self, env: Mapping[str, str]) -> Callable[[str], str | None]:
        """By the PATH of the nodes."""
        return lambda name: shutil.which(name, path=env["PATH"])

    async def close(self) -> None:
        """The launchers end what they have started."""


class Containers:
    """One container on each node. `own` are the variables that the job itself defines.

    All see the directories of all nodes at their own paths: under mpirun, the ranks of every node are in the
    first container, each in the directories of its node.
    """

    def __init__(self, engine: Engine, name: str, places: Sequence[Place], own: frozenset[str]) -> None:
        self._engine = engine
        self._names = [f"{name}-{index}" for index in range(len(places))]
        self._places = places
        self._own = own
        self._written: list[Path] = []

    async def open(self, settings: Mapping[str, Any], volumes: Mapping[Path, bool], gpus: bool) -> None:
        """Fetch the image and start the containers, unless that is done. Raises ContainerError.

        `volumes` are directories that they see too, and whether all in them is the emulator's.
        """
        roots = [place.root for place in self._places]
        self._written = [*roots, *(path for path, ours in volumes.items() if ours)]
        image = settings["imageSourceRegistry"]["image"]
        if (await call(self._engine.has(image))).code:
            await self._fetch(settings["imageSourceRegistry"])
        binds = [*roots, *volumes]
        commands = [
            self._engine.run(name, image, binds, settings.get("shmSize", ""), gpus) for name in self._names
        ]
        starts = [self._start(name, argv, image) for name, argv in zip(self._names, commands, strict=True)]
        # All have come to an end before anyone cleans up behind one that failed.
        for result in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result

    def command(self, node: int, argv: tuple[str, ...], env: Mapping[str, str]) -> Command:
        """The process, started by the engine's program, which has the emulator's own environment."""
        place = self._places[node]
        text = exports(env, self._own, place.job / "config")
        return Command(self._engine.execute(self._names[node], place.work, argv), dict(os.environ), text)

    async def programs(self, env: Mapping[str, str]) -> Callable[[str], str | None]:
        """What the image has, with what the preparation added to it."""
        search = f"for name in {' '.join(_PROGRAMS)}; do command -v $name; done; true"
        command = self.command(0, ("/bin/sh", "-c", search), env)
        found = (await call(command.argv, command.text)).out.split()
        return {path.rpartition("/")[2]: path for path in found}.get

    async def close(self) -> None:
        """End and remove them. What root wrote in them becomes ours, so that it can be deleted."""
        # An engine that was stopped or uninstalled meanwhile must not hold the job for ever.
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                if self._written and not self._engine.rootless and os.getuid():
                    owner = f"{os.getuid()}:{os.getgid()}"
                    where = map(str, self._written)
                    give = ("find", *where, "-user", "0", "-exec", "chown", "-h", owner, "{}", "+")
                    await call(self._engine.execute(self._names[0], Path("/"), give))
                await asyncio.gather(*map(self._end, self._names))

    async def _end(self, name: str) -> None:
        await call(self._engine.stop(name))
        await call(self._engine.remove(name))

    async def _fetch(self, source: Mapping[str, Any]) -> None:
        image, credentials = source["image"], source.get("credentials")
        with tempfile.TemporaryDirectory(prefix="slipway-login-") as folder:
            env = {}
            if credentials:
                env = self._engine.own_login(Path(folder))
                if self._engine.name == "docker":
                    env["DOCKER_HOST"] = (await call(self._engine.endpoint())).out.strip()
                server = registry(image, source.get("serverUrl", ""))
                login = self._engine.login(credentials["username"], server)
                await _done(login, image, credentials["password"], env)
            await _done(self._engine.pull(image), image, "", env)

    async def _start(self, name: str, argv: Sequence[str], image: str) -> None:
        if (await call(self._engine.running(name))).out.strip() == "true":
            return
        await call(self._engine.remove(name))
        await _done(argv, image)


def exports(env: Mapping[str, str], own: frozenset[str], config: Path) -> str:
    """Shell text that sets a job's environment in an image, which keeps its own PATH, HOME and LANG."""
    lines = [
        f"export {name}={shlex.quote(value)}"
        for name, value in env.items()
        if name not in _OF_THE_NODE or name in own
    ]
    return "\n".join([*lines, f'export PATH={shlex.quote(str(config))}:"$PATH"', ""])


async def engine_for(setting: str, config: Path) -> Engine | None:
    """The engine to use by the setting; None: the host. It stays the same for whoever goes on with the run.

    Raises ContainerError.
    """
    file = config / _DECISION
    if not file.exists():
        found = None if setting == "host" else await answering()
        if found is None and setting == "require":
            raise ContainerError(Fault(code="ContainerEngineNotFound", message=NO_ENGINE))
        file.write_text(json.dumps(found and asdict(found)))
    return _decided(file)


def left(config: Path, name: str, places: Sequence[Place]) -> Site:
    """Where an earlier emulator began this run, to be closed."""
    engine = _decided(config / _DECISION)
    return Containers(engine, name, places, frozenset()) if engine else Host()


def _decided(file: Path) -> Engine | None:
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return Engine(**found) if found else None


async def _done(
    argv: Sequence[str], image: str, text: str = "", env: Mapping[str, str] | None = None
) -> None:
    answer = await call(argv, text, env)
    if answer.code:
        said = (answer.err or answer.out).strip().splitlines() or [f"exit code {answer.code}"]
        message = f"The container cannot be started: {' '.join(argv[:2])}: {said[-1]}"
        details = {"imageName": image}
        raise ContainerError(Fault(code="FailedStartingContainer", message=message, details=details))
