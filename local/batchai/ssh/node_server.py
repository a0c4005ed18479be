"""The ssh server of one node: who may log in, and what a login can do."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import asyncssh

from local.batchai.ssh.account import Account
from local.batchai.ssh.node_files import NodeFiles
from local.batchai.ssh.session import REFUSED, run
from local.batchai.state.models import Cluster, Node
from local.nodes.ssh.guests import Entrance, Guests

Listener = asyncssh.SSHAcceptor


async def listen(
    sock: socket.socket,
    data: Path,
    node: Node,
    cluster: Callable[[], Cluster | None],
    guests: Callable[[], Guests | None],
) -> Listener:
    """Serve a node at a socket. `cluster` and `guests` are as they are at each login, and at each session."""

    def entrance() -> Entrance | str:
        return _entrance(node, guests())

    async def session(process: asyncssh.SSHServerProcess[bytes]) -> None:
        process.exit(await _session(process, entrance(), guests()))

    return await asyncssh.listen(
        sock=sock,
        server_factory=lambda: NodeServer(cluster, entrance),
        server_host_keys=[_host_key(data)],
        process_factory=session,
        sftp_factory=lambda channel: NodeFiles(channel, entrance),
        encoding=None,
        line_editor=False,
        agent_forwarding=False,
        keepalive_interval=60,
    )


class NodeServer(asyncssh.SSHServer):
    """One connection to a node."""

    def __init__(self, cluster: Callable[[], Cluster | None], entrance: Callable[[], Entrance | str]) -> None:
        self._account, self._entrance = Account(cluster()), entrance

    def begin_auth(self, username: str) -> bool:
        """Whether a key or a password is required: always."""
        return True

    def public_key_auth_supported(self) -> bool:
        """Whether a key lets the administrator in."""
        return self._account.has_key

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Whether this one does."""
        return self._account.takes_key(username, key)

    def password_auth_supported(self) -> bool:
        """Whether a password lets the administrator in."""
        return self._account.has_password

    def validate_password(self, username: str, password: str) -> bool:
        """Whether this one does."""
        return self._account.takes_password(username, password)

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        """Whether a port is forwarded (`ssh -L`): those that the job's own processes reach."""
        return not isinstance(self._entrance(), str)


async def _session(
    process: asyncssh.SSHServerProcess[bytes], entrance: Entrance | str, guests: Guests | None
) -> int:
    """Run a session to its exit code."""
    if isinstance(entrance, str) or guests is None:
        process.stderr.write(f"{entrance}\n".encode())
        return REFUSED
    try:
        code = await guests.with_job(run(process, entrance))
    except OSError as error:
        process.stderr.write(f"nothing can be started on this node: {error.strerror}\n".encode())
        return REFUSED
    if code is None:
        with suppress(OSError):
            process.stderr.write(b"the job of this node has ended\r\n")
        return REFUSED
    return code if code >= 0 else 128 - code


def _entrance(node: Node, guests: Guests | None) -> Entrance | str:
    """The entrance to the job on a node, or a sentence why there is none."""
    entrance = guests.entrance(node.id) if guests else None
    if entrance is None:
        return f"no job runs on this node ({node.address}) now, so there is nothing to log in to"
    if entrance.container:
        return f"the job runs in a container; enter it: docker exec -it {entrance.container} sh"
    return entrance


def _host_key(data: Path) -> asyncssh.SSHKey:
    """The key of all nodes, by which clients know them again after a restart."""
    file = data / "ssh_host_key"
    if not file.exists():
        key = asyncssh.generate_private_key("ssh-ed25519")
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(key.export_private_key())
    return asyncssh.read_private_key(file)
