"""Files of a node by sftp, and by scp over it; relative paths are in the directory of the job's processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import asyncssh

from local.nodes.ssh.guests import Entrance


class NodeFiles(asyncssh.SFTPServer):
    """The files that a process of the job sees, while it runs."""

    def __init__(
        self, channel: asyncssh.SSHServerChannel[Any], entrance: Callable[[], Entrance | str]
    ) -> None:
        super().__init__(channel)
        self._entrance = entrance

    def exit(self) -> None:
        """Say that it ended well: OpenSSH's scp fails where its server gives no exit code."""
        self.channel.exit(0)

    def map_path(self, path: bytes) -> bytes:
        """The path on this machine. Raises SFTPFailure where no job can be entered."""
        entrance = self._entrance()
        if isinstance(entrance, str):
            raise asyncssh.SFTPFailure(entrance)
        return os.fsencode(entrance.directory / os.fsdecode(path))
