"""A person's own ssh and scp reach a job by an sshd that speaks by its input and output."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.client.entry.places import Place
from slipway.client.entry.program import entering
from slipway.client.entry.ssh_config import NO_SSHD, config, host_of, preparing

JOB = f"j_{os.getpid():024d}"
PLACE = Place(JOB, 1, 0, "ssh", {})
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")


#: Without sftp on the node, scp has its own words for it.
OLD_SCP = [] if Path("/usr/lib/openssh/sftp-server").exists() else ["-O"]


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Path]:
    """A job that runs here, and its directory."""
    directory = tmp_path / "wd"
    directory.mkdir()
    own = {"SLIPWAY_JOB_ID": JOB, "SLIPWAY_ATTEMPT": "1", "COLOUR": "it's blue"}
    libraries = {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
    env = {"PATH": os.environ["PATH"], "AZ_BATCHAI_JOB_TEMP": str(tmp_path), **own, **libraries}
    with subprocess.Popen(["sleep", "600"], env=env, cwd=directory) as process:
        yield directory
        process.kill()


def prepared(folder: Path) -> Path:
    """The node is ready, and the file for ssh is written: its way is what `slipway shell` does here."""
    shell = folder / "shell.py"
    shell.write_text(
        "import os, sys\nfrom slipway.client.entry.program import entering\n"
        "words = sys.argv[sys.argv.index('--') + 1:]\n"
        f"words = entering({JOB!r}, 1, 0, words)\nos.execv(words[0], words)\n"
    )
    key = folder / f"{JOB}.key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    words = entering(JOB, 1, 0, preparing(PLACE, key.with_name(f"{key.name}.pub").read_text().strip()))
    answer = subprocess.run(words, capture_output=True, check=False)
    assert answer.returncode == 0, answer.stderr
    host = host_of(answer.stdout.decode())
    (folder / f"{JOB}.known").write_text(f"{JOB} {host.key}\n")
    file = folder / "config"
    file.write_text(config(PLACE, host, [sys.executable, str(shell)], folder))
    return file


@pytest.mark.skipif(not SSHD, reason="there is no sshd here: apt-get install openssh-server")
def test_ssh_is_in_the_job_and_scp_copies_from_it(job: Path, tmp_path: Path) -> None:
    file = prepared(tmp_path)

    def ssh(*words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["ssh", "-F", str(file), JOB, *words], input=data, capture_output=True, check=False
        )

    answer = ssh("echo $COLOUR; pwd -P; exit 7")
    data = os.urandom(5 << 20)
    copied = ssh("cat", data=data)
    shell = ssh(data=b"echo $COLOUR\n")
    (job / "model").write_bytes(data)
    words = ["scp", "-q", *OLD_SCP, "-F", str(file), f"{JOB}:model", str(tmp_path / "model")]
    scp = subprocess.run(words, capture_output=True, check=False)

    assert (answer.stdout.decode(), answer.returncode) == (f"it's blue\n{job}\n", 7), answer.stderr
    assert copied.stdout == data
    assert shell.stdout == b"it's blue\n"
    assert (scp.returncode, (tmp_path / "model").read_bytes() == data) == (0, True), scp.stderr


@pytest.mark.skipif(not SSHD, reason="there is no sshd here: apt-get install openssh-server")
def test_another_key_is_refused(job: Path, tmp_path: Path) -> None:
    file, other = prepared(tmp_path), tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)

    words = ["ssh", "-F", str(file), "-o", "BatchMode=yes", "-o", f"IdentityFile={other}", JOB, "true"]
    text = file.read_text().replace(f"{JOB}.key", "other")
    file.write_text(text)
    answer = subprocess.run(words, capture_output=True, check=False)

    assert answer.returncode == 255
    assert b"Permission denied" in answer.stderr


def test_where_there_is_no_sshd_that_is_said(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "mkdir"):
        (tools / name).symlink_to(str(shutil.which(name)))
    words = preparing(PLACE, "ssh-ed25519 key")
    script = [shlex.quote(one) for one in words]
    if SSHD == "/usr/sbin/sshd":
        script[2] = script[2].replace("/usr/sbin/sshd", "/nowhere/sshd")

    answer = subprocess.run(
        ["/bin/sh", "-c", " ".join(script)],
        env={"PATH": str(tools), "AZ_BATCHAI_JOB_TEMP": str(tmp_path)},
        capture_output=True,
        check=False,
    )

    assert answer.returncode == NO_SSHD
