"""Brings volumes of clusters and jobs into a node's directories."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from confined import Confined
from local.nodes.fault import Fault
from local.nodes.machine import Directories
from local.nodes.settings import NodeSettings, SettingsError, table
from local.nodes.volume import MountError, Volume, spaced

if TYPE_CHECKING:
    from local.nodes.mirrors import Mirrors


class Mounter:
    """Mounts volumes.

    `server` returns the directory of a file server by its id, or None if it no longer exists.
    """

    def __init__(self, settings: NodeSettings, server: Callable[[str], Path | None]) -> None:
        self._settings = settings
        self._server = server
        self._mirrors: Mirrors | None = None

    async def hold(self, volume: Volume) -> Path:
        """Make the volume's directory ready and up to date, until it is released. Raises MountError."""
        if volume.kind == "share":
            return self._share(volume)
        if volume.kind == "server":
            return self._file_server(volume)
        if volume.kind == "unmanaged":
            return self._unmanaged(volume)
        self._check_key(volume, "BFSMountError")
        if self._mirrors is None:
            from local.nodes.mirrors import Mirrors  # the storage SDK, a quarter of an emulator's start

            self._mirrors = Mirrors(self._settings)
        return await self._mirrors.hold(volume)

    def unseen(self, volume: Volume) -> str:
        """What of a volume that is held a job cannot see, in a sentence; "" if it sees all."""
        return self._mirrors.unseen(volume) if volume.kind == "blob" and self._mirrors is not None else ""

    async def release(self, volume: Volume, tries: int = 3) -> None:
        """Write the rest back. Raises MountError if the container still refuses it after `tries` tries."""
        if volume.kind == "blob" and self._mirrors is not None:
            await self._mirrors.release(volume, tries)

    async def close(self) -> None:
        """Stop writing back what jobs write into mounts."""
        if self._mirrors is not None:
            await self._mirrors.close()

    def _share(self, volume: Volume) -> Path:
        self._check_account(volume)
        share = self._settings.shares / volume.account / volume.name
        if not share.is_dir():
            raise _share_fault(f"There is no file share {volume.name} in {volume.account}")
        return _directory_inside(share, volume.inside, "AFSMountError")

    def _file_server(self, volume: Volume) -> Path:
        root = self._server(volume.name)
        if root is None:
            name = volume.name.rpartition("/")[2]
            message = f"The file server {name} no longer exists"
            raise MountError(Fault(code="FileServerMountError", message=message))
        root.mkdir(parents=True, exist_ok=True)
        return _directory_inside(root, volume.inside, "FileServerMountError")

    def _unmanaged(self, volume: Volume) -> Path:
        """The directory that stands for what the command would mount. The command itself is never run."""
        file = self._settings.unmanaged_mounts
        try:
            directories = {spaced(name): Path(path) for name, path in table(file).items()} if file else {}
        except SettingsError as error:
            raise _unmanaged_fault(volume, str(error)) from error
        directory = directories.get(volume.name)
        if directory is None or not directory.is_absolute() or not directory.is_dir():
            raise _unmanaged_fault(
                volume, f"Give its mount command an absolute directory of this machine in {file}"
            )
        return directory

    def _check_account(self, volume: Volume) -> None:
        account = self._settings.account
        if volume.account != account.name:
            raise _share_fault(
                f"The emulator serves the file shares of {account.name} only, not {volume.account}"
            )
        self._check_key(volume, "AFSMountError")

    def _check_key(self, volume: Volume, code: str) -> None:
        account = self._settings.account
        if volume.account == account.name and volume.key != account.key:
            message = f"The key of the storage account {volume.account} is wrong"
            raise MountError(Fault(code=code, message=message))


class Mounts:
    """The volumes of one run, `holder`: those of its cluster, and its own below the mounts of its nodes.

    `tellers` take a line about each node.
    """

    def __init__(
        self,
        mounter: Mounter,
        holder: str,
        nodes: Sequence[Directories],
        tellers: Sequence[Callable[[str], None]],
    ) -> None:
        self._mounter, self._holder = mounter, holder
        self._nodes, self._tellers = nodes, tellers
        self._held: list[Volume] = []
        self._own: list[Volume] = []
        #: The directories of the volumes, and whether all in them is ours.
        self.directories: dict[Path, bool] = {}

    async def hold(self, shared: Sequence[Volume], own: Sequence[Volume]) -> Fault | None:
        """Mount every volume that can be mounted; returns the reason why the first of its own cannot.

        Raises MountError for one of the cluster's.
        """
        for volume in shared:
            await self._hold(volume)
        faults = []
        for volume in (replace(one, holder=self._holder) for one in own):
            try:
                directory = await self._hold(volume)
            except MountError as error:
                faults.append(error.fault)
                continue
            self._own.append(volume)
            for node, tell in zip(self._nodes, self._tellers, strict=True):
                link(node.job_mounts, volume, directory)
                tell(f"Mounted {volume.kind} {volume.label} at {node.job_mounts / volume.at}")
                if unseen := self._mounter.unseen(volume):
                    tell(f"Of {volume.label}, {unseen}")
        return next(iter(faults), None)

    async def release(self, tries: int) -> list[Fault]:
        """Write back, and take away; returns why a container refuses what is written back."""
        faults = []
        for volume in self._held:
            try:
                await self._mounter.release(volume, tries)
            except MountError as error:
                faults.append(error.fault)
        for node in self._nodes:
            with suppress(OSError):
                unlink(node.job_mounts, self._own)
        return faults

    async def _hold(self, volume: Volume) -> Path:
        directory = await self._mounter.hold(volume)
        self._held.append(volume)
        self.directories[directory] = volume.kind != "unmanaged"
        return directory


def link(root: Path, volume: Volume, directory: Path) -> None:
    """Link the volume below a mount root, which an earlier job may have left in disorder."""
    with Confined.real(root) as mounts, mounts.make_directory(str(volume.at.parent)) as parent:
        with suppress(FileNotFoundError):
            if stat.S_ISLNK(os.stat(volume.at.name, dir_fd=parent.fd, follow_symlinks=False).st_mode):
                os.unlink(volume.at.name, dir_fd=parent.fd)
        os.symlink(directory, volume.at.name, dir_fd=parent.fd)


def unlink(root: Path, mounted: Sequence[Volume]) -> None:
    """Take the volumes away; their content stays where it is."""
    with Confined.real(root) as mounts:
        for volume in mounted:
            with suppress(FileNotFoundError), mounts.directory(str(volume.at.parent), links=False) as parent:
                os.unlink(volume.at.name, dir_fd=parent.fd)


def _directory_inside(root: Path, inside: str, code: str) -> Path:
    try:
        directory = (root / inside.lstrip("/")).resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: links in a circle, before Python 3.13
        directory = None
    if directory is None or not directory.is_relative_to(root.resolve()) or not directory.is_dir():
        message = f"There is no directory {inside} in {root.name}"
        raise MountError(Fault(code=code, message=message))
    return directory


def _share_fault(message: str) -> MountError:
    return MountError(Fault(code="AFSMountError", message=message))


def _unmanaged_fault(volume: Volume, remedy: str) -> MountError:
    message = f"Nothing stands for the unmanaged file system at {volume.at}. {remedy}"
    return MountError(Fault(code="UnmanagedMountError", message=message))
