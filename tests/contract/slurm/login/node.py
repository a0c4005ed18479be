"""A login node: a real sshd on this machine, configured as the page for operators says."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[4]
GUIDE = ROOT / "docs" / "how-to" / "certificates-for-a-login-node.md"
PROGRAM = ROOT / "infra" / "slurm" / "slipway-enter"
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin") or ""
NO_SSHD = "there is no sshd here: apt-get install openssh-server"
#: Seconds until it listens.
_PATIENCE = 60.0


@dataclass(frozen=True)
class LoginNode:
    """Where it answers, and its files."""

    port: int
    folder: Path

    @property
    def options(self) -> list[str]:
        """Options of ssh to get there, without the files and questions of the person who runs the tests."""
        hosts = f"UserKnownHostsFile={self.folder / 'known'}"
        options = ("BatchMode=yes", "StrictHostKeyChecking=accept-new", hosts, "LogLevel=ERROR")
        return ["-F", "none", "-p", str(self.port), *(word for one in options for word in ("-o", one))]

    @property
    def log(self) -> str:
        """What sshd has said."""
        return (self.folder / "log").read_text()

    def ssh(self, words: Sequence[str], *more: str) -> list[str]:
        """A command line of ssh, for this node's port."""
        assert words[0] == "ssh"
        return ["ssh", *self.options, *more, *words[1:]]


def new_key(file: Path) -> str:
    """A key without a passphrase; its public half."""
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(file)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return file.with_name(f"{file.name}.pub").read_text().strip()


def documented() -> str:
    """The lines for sshd, as the page has them."""
    (block,) = re.findall(r"```\n( *Match User .*?) *```", GUIDE.read_text(), re.DOTALL)
    return dedent(block)


@contextmanager
def login_node(
    folder: Path, user: str, trusted: str, variables: Mapping[str, str], lines: str = ""
) -> Iterator[LoginNode]:
    """Serve until the block ends. `trusted`: public keys that sign; `variables`: of the account there.

    `lines`: for sshd instead of those of the page.
    """
    (folder / "ca.pub").write_text(f"{trusted}\n")
    new_key(folder / "host")
    (path,) = re.findall(r"`SetEnv PATH=(\S+) SLURM_CONF=/etc/slurm/slurm.conf`", GUIDE.read_text())
    path = path.replace("/usr/local/bin", str(PROGRAM.parent)).replace("/opt/slurm/bin", variables["PATH"])
    env = {**variables, "PATH": path}
    lines = lines or documented()
    lines = lines.replace("Match User slipway", f"Match User {user}")
    lines = lines.replace("/etc/ssh/slipway_enter_ca.pub", str(folder / "ca.pub"))
    pairs = " ".join(f'"{name}={value}"' for name, value in env.items())
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    head = [f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {folder / 'host'}", "PidFile none"]
    head += ["UsePAM no", "StrictModes no", "LogLevel VERBOSE", f"SetEnv {pairs}"]
    (folder / "sshd").write_text("\n".join(head) + f"\n{lines}")
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "sshd")], stderr=log)
    try:
        _until_open(port, process)
        yield LoginNode(port, folder)
    finally:
        process.kill()
        process.wait()


def _until_open(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("sshd does not listen")
