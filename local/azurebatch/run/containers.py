"""The container of a task, on a machine with Docker or Podman."""

import logging
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.azurebatch.run.endings import Failure, failure
from local.azurebatch.settings import Settings
from local.nodes.containers import (
    Command,
    ContainerError,
    Containers,
    exports,
    forget,
    left_over_site,
    runtime_for,
)
from local.nodes.docker import ContainerRuntime
from local.nodes.machine import Directories
from local.nodes.work import Image

_log = logging.getLogger(__name__)
#: The step that failed → the service's code.
_CODES = {
    "login": "ContainerInvalidRegistry",
    "pull": "ContainerInvalidImage",
    "run": "ContainerInvalidSettings",
}
_CANNOT = "The container of the task cannot be started"
_NO_POOL = "The pool does not support container tasks"
_NO_SETTINGS = "Container-enabled compute node requires task container settings"


@dataclass(frozen=True)
class _Runtime(ContainerRuntime):
    """A runtime whose containers get the options of a task."""

    options: tuple[str, ...] = ()

    def run(
        self, container: str, image: str, binds: Sequence[Path], shm_size: str = "", gpus: bool = False
    ) -> tuple[str, ...]:
        """Start a container that waits; what the emulator needs stands after the task's options."""
        words = super().run(container, image, binds, shm_size, gpus)
        return (*words[:2], *self.options, *words[2:])


class TaskContainer(Containers):
    """The container of one task, which sees its node's directory at its own path."""

    def __init__(self, runtime: ContainerRuntime, name: str, root: Path, own: frozenset[str]) -> None:
        super().__init__(runtime, name, [Directories(root)], own)
        self._root = root

    def started(self, argv: Sequence[str], env: Mapping[str, str], directory: Path | None) -> Command:
        """How to start a command in it, in the image's own directory unless one is named."""
        words = self._runtime.execute(self._names[0], directory or Path("/"), argv)
        if directory is None:
            place = words.index("--workdir")
            words = (*words[:place], *words[place + 2 :])
        host = self.command(0, tuple(argv), env)
        return Command(words, host.env, exports(env, self._own, self._root / "config"))


async def opened(
    document: Mapping[str, Any], pool: Mapping[str, Any], root: Path, name: str, settings: Settings
) -> TaskContainer | None:
    """The running container of a task; None for one on the host. Raises Failure.

    A pool for containers runs no task without one: the service takes it, and it fails on its node.
    """
    box, takes = document.get("containerSettings"), pool["virtualMachineConfiguration"]
    if not box and "containerConfiguration" in takes:
        raise failure("ContainerTaskSettingsNotFound", _NO_SETTINGS)
    if not box:
        return None
    if "containerConfiguration" not in takes:
        details = {"Reason": "Its virtualMachineConfiguration has no containerConfiguration"}
        raise failure("ContainerPoolNotSupported", _NO_POOL, details)
    try:
        runtime = await runtime_for(settings.containers, settings.data / "engines", name, settings.grace)
        if runtime is None:
            _log.warning("%s runs as a process of this machine, not in %s", name, box["imageName"])
            return None
        own = frozenset(one["name"] for one in document.get("environmentSettings", ()))
        container = TaskContainer(_with_options(runtime, box), name, root, own)
        await container.open(_image(box, pool), {}, gpus=False)
    except ContainerError as error:
        raise _failed(error, str(box["imageName"])) from None
    return container


async def closed(settings: Settings, name: str, root: Path) -> None:
    """End the container of a task, if it has one."""
    folder = settings.data / "engines"
    await left_over_site(folder, name, [Directories(root)]).close()
    forget(folder, name)


def _with_options(runtime: ContainerRuntime, box: Mapping[str, Any]) -> ContainerRuntime:
    try:
        options = tuple(shlex.split(box.get("containerRunOptions") or ""))
    except ValueError as error:
        details = {"Reason": f"containerRunOptions: {error}"}
        raise failure("ContainerInvalidSettings", _CANNOT, details) from None
    return _Runtime(runtime.name, runtime.program, runtime.rootless, runtime.grace, options)


def _image(box: Mapping[str, Any], pool: Mapping[str, Any]) -> Image:
    """The image, with the login of the task, or of the pool for its registry."""
    name = str(box["imageName"])
    configuration: Mapping[str, Any] = pool["virtualMachineConfiguration"]["containerConfiguration"]
    registries = configuration.get("containerRegistries") or ()
    fitting = (one for one in registries if name.startswith(f"{one.get('registryServer') or 'docker.io'}/"))
    login: Mapping[str, Any] = box.get("registry") or next(fitting, {})
    return Image(
        name,
        server=str(login.get("registryServer") or ""),
        username=str(login.get("username") or ""),
        password=str(login.get("password") or ""),
    )


def _failed(error: ContainerError, image: str) -> Failure:
    message = error.fault.message
    code = next((code for verb, code in _CODES.items() if f" {verb}: " in message), "ContainerMiscError")
    return failure(code, _CANNOT, {"ImageName": image, "Reason": message})
