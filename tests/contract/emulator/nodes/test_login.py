"""OpenSSH's own client at the nodes of a cluster: shells, commands, ports and files of the job there."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import shutil
import socket
import subprocess
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

from tests.contract.emulator.conftest import CLUSTER, GROUP, Lab, custom, until

pytestmark = pytest.mark.skipif(shutil.which("ssh") is None, reason="this machine has no OpenSSH client")
#: It says that it has begun, and goes on until it is stopped.
JOB = 'export OWN=set-by-script; echo begun > begun; echo "$HOSTNAME" > where; sleep 600'


class Login(NamedTuple):
    """Where a node answers, for whom, and with which key."""

    host: str
    port: int
    user: str
    key: Path

    def words(self, *command: str, program: str = "ssh", user: str = "") -> list[str]:
        """A command line of OpenSSH, without the files and questions of the person who runs the tests."""
        options = ["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no"]
        options += ["-o", "UserKnownHostsFile=/dev/null", "-o", "IdentitiesOnly=yes", "-o", "LogLevel=ERROR"]
        options += ["-i", str(self.key), "-P" if program != "ssh" else "-p", str(self.port)]
        host = [f"{user or self.user}@{self.host}"] if program == "ssh" else []
        return [program, *options, *host, *command]

    @property
    def place(self) -> str:
        """User and host, for scp and sftp."""
        return f"{self.user}@{self.host}"


async def ran(*words: str, text: bytes = b"") -> tuple[int | None, bytes, str]:
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "OF_THE_CALLER": "1"},
    )
    out, err = await process.communicate(text)
    return process.returncode, out, err.decode()


def content_of(path: str) -> bytes:
    return Path(path).read_bytes()


def keypair(folder: Path, name: str) -> Path:
    """A new key; the public one beside it."""
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
    subprocess.run(words, check=True)
    return folder / name


async def logins(lab: Lab, key: Path, user: str = "ann") -> list[Login]:
    listed = lab.client.clusters.list_remote_login_information(GROUP, lab.workspace, CLUSTER)
    return [Login(one.ip_address, one.port, user, key) async for one in listed]


async def cluster_with(lab: Lab, count: int, **account: str) -> None:
    """A cluster whose administrator has this account."""
    scale = {"manual": {"targetNodeCount": count}}
    await lab.make_cluster(scale, userAccountSettings={"adminUserName": "ann", **account})

    async def steady() -> bool:
        return bool((await lab.cluster()).node_state_counts.idle_node_count == count)

    await until(steady)


@asynccontextmanager
async def running(lab: Lab, folder: Path, script: str = JOB, **more: Any) -> AsyncIterator[list[Login]]:
    """The logins of the nodes of a job that runs."""
    key = keypair(folder, "key")
    await cluster_with(lab, 1, adminUserSshPublicKey=key.with_suffix(".pub").read_text())
    await lab.submit("job", **custom(script), **more)
    await lab.reaches("job", "running")
    (node,) = await logins(lab, key)

    async def begun() -> bool:
        return (await ran(*node.words("test -e begun")))[0] == 0

    await until(begun)
    yield [node]


async def test_a_command_runs_in_the_environment_and_the_directory_of_the_job(
    lab: Lab, tmp_path: Path
) -> None:
    variables = [{"name": "COLOUR", "value": "a 'b' \"c\"\nd"}]
    more: dict[str, Any] = {
        "environmentVariables": variables,
        "secrets": [{"name": "TOKEN", "value": "of-the-job"}],
    }
    async with running(lab, tmp_path, **more) as (node,):
        code, out, err = await ran(*node.words("pwd; cat begun; env -0; exit 7"))

        assert (code, err) == (7, "")
        directory, begun, rest = out.decode().split("\n", 2)
        env = dict(one.partition("=")[::2] for one in rest.split("\0") if one)
        assert (directory.endswith("/wd"), begun) == (True, "begun")
        assert (env["COLOUR"], env["TOKEN"]) == ("a 'b' \"c\"\nd", "of-the-job")
        assert directory == f"{env['AZ_BATCHAI_JOB_TEMP']}/wd"
        assert "OF_THE_CALLER" not in env
        assert "OF_THE_EMULATOR" not in env

        code, out, _ = await ran(*node.words("cat; echo error >&2"), text=bytes(range(256)) * 40_000)
        assert (code, out) == (0, bytes(range(256)) * 40_000)
        assert (await ran(*node.words(), text=b"exit 5\n"))[0] == 5
        assert (await ran(*node.words("kill -TERM $$")))[0] in (143, 255)


async def test_a_terminal_has_the_size_of_its_window_and_gives_the_exit_code(
    lab: Lab, tmp_path: Path
) -> None:
    async with running(lab, tmp_path) as (node,):
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (33, 77))
        shell = await asyncio.create_subprocess_exec(
            *node.words("-t"), stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"}
        )
        os.close(theirs)
        os.write(ours, b"stty size; tty; echo $TERM-$COLOUR-$((40+2)); pwd; exit 9\n")

        def shown() -> str:
            parts = b""
            while True:
                try:
                    parts += os.read(ours, 4096)
                except OSError:
                    return parts.decode()

        output = await asyncio.to_thread(shown)
        assert await shell.wait() == 9, output
        assert "33 77" in output
        assert "/dev/pts/" in output
        assert "xterm--42" in output
        assert re.search(r"/wd\r?\n", output)
        os.close(ours)


async def test_only_the_administrator_of_the_cluster_is_let_in(lab: Lab, tmp_path: Path) -> None:
    other = keypair(tmp_path, "other")
    async with running(lab, tmp_path) as (node,):
        for login in (node._replace(key=other), node._replace(user="eve"), node._replace(user="root")):
            code, out, err = await ran(*login.words("echo in"))
            assert (code, out) == (255, b"")
            assert "Permission denied (publickey)" in err


async def test_a_password_lets_in_where_the_cluster_has_one(lab: Lab, tmp_path: Path) -> None:
    import asyncssh

    await cluster_with(lab, 1, adminUserPassword="open sesame ü")
    await lab.submit("job", **custom("sleep 600"))
    await lab.reaches("job", "running")
    (node,) = await logins(lab, tmp_path)

    async def say(user: str, password: str) -> str:
        options: dict[str, Any] = {"known_hosts": None, "client_keys": None, "config": None}
        login = asyncssh.connect(node.host, node.port, username=user, password=password, **options)
        async with login as connection:
            return str((await connection.run("echo $AZ_BATCHAI_JOB_TEMP")).stdout)

    async def enters() -> str:
        return (await say("ann", "open sesame ü")).strip()

    assert "/jobs/" in await until(enters)
    for user, password in (("ann", "open sesame"), ("ann", ""), ("eve", "open sesame ü")):
        with pytest.raises(asyncssh.PermissionDenied):
            await say(user, password)


async def test_files_come_and_go_by_scp_and_sftp_from_the_directory_of_the_job(
    lab: Lab, tmp_path: Path
) -> None:
    content = os.urandom(3_000_000)
    (tmp_path / "data.bin").write_bytes(content)
    async with running(lab, tmp_path) as (node,):
        copies = (("-q",), ("-q", "-O"))  # by sftp, and as before that
        for number, options in enumerate(copies):
            target = f"{node.place}:copy ü {number}"
            target = target if "-O" not in options else f"{node.place}:copy_{number}"
            back = str(tmp_path / f"back-{number}")
            up = await ran(*node.words(*options, str(tmp_path / "data.bin"), target, program="scp"))
            down = await ran(*node.words(*options, target, back, program="scp"))
            assert (up[0], down[0]) == (0, 0), (up, down)
            assert content_of(back) == content
        batch = f"pwd\nls\nget begun {tmp_path}/begun\n".encode()
        code, out, err = await ran(*node.words("-q", "-b", "-", node.place, program="sftp"), text=batch)
        assert code == 0, err
        assert re.search(rb"working directory: \S+/wd\n", out)
        assert b"copy_1" in out
        assert content_of(f"{tmp_path}/begun") == b"begun\n"
        absent = await ran(*node.words("-q", f"{node.place}:missing", str(tmp_path), program="scp"))
        assert absent[0] == 1
        assert "missing" in absent[2]


async def test_a_port_of_the_job_is_forwarded(lab: Lab, tmp_path: Path) -> None:
    script = "echo served > page; python3 -u -m http.server 0 --bind 127.0.0.1 >log 2>&1 & touch begun; wait"
    async with running(lab, tmp_path, script) as (node,):
        port = await until_port(node)
        with socket.create_server(("127.0.0.1", 0)) as free:
            own = free.getsockname()[1]
        tunnel = await asyncio.create_subprocess_exec(
            *node.words("-N", "-L", f"127.0.0.1:{own}:127.0.0.1:{port}")
        )
        try:

            async def served() -> str | None:
                address = f"http://127.0.0.1:{own}/page"
                try:
                    async with aiohttp.ClientSession() as session, session.get(address) as answer:
                        return await answer.text()
                except aiohttp.ClientError:
                    return None

            assert await until(served) == "served\n"
        finally:
            tunnel.terminate()
            await tunnel.wait()


async def until_port(node: Login) -> int:
    async def port() -> int | None:
        _, out, _ = await ran(*node.words("cat log"))
        match = re.search(rb"port (\d+)", out)
        return int(match[1]) if match else None

    return int(await until(port))


async def test_a_job_whose_directory_is_gone_can_be_entered(lab: Lab, tmp_path: Path) -> None:
    async with running(lab, tmp_path) as (node,):
        await ran(*node.words('rm -r "$PWD"'))

        code, out, err = await ran(*node.words("pwd; echo $AZ_BATCHAI_JOB_TEMP"))

        assert (code, out.split(b"\n")[0]) == (0, b"/")
        assert out.split(b"\n")[1]
        assert "the directory of the job is gone" in err


async def test_a_session_ends_with_its_job_and_leaves_nothing(lab: Lab, tmp_path: Path) -> None:
    async with running(lab, tmp_path) as (node,):
        session = asyncio.create_task(ran(*node.words("echo $$ > shell; sleep 987 & sleep 986")))

        async def entered() -> bool:
            return (await ran(*node.words("test -s shell && kill -0 $(cat shell)")))[0] == 0

        await until(entered)
        await (await lab.client.jobs.begin_terminate(*lab.place, "job")).result()

        code, _, err = await session
        assert code == 255
        assert "the job of this node has ended" in err
        code, _, err = await ran(*node.words("echo in"))
        assert code == 255
        assert f"no job runs on this node ({node.host}) now" in err
        refused = await ran(*node.words("-q", f"{node.place}:begun", str(tmp_path), program="scp"))
        assert refused[0] == 1
    assert (await ran("pgrep", "-f", "^sleep 98[67]$"))[1] == b""


async def test_each_node_answers_with_its_own_rank_and_no_node_after_it_has_gone(
    lab: Lab, tmp_path: Path
) -> None:
    key = keypair(tmp_path, "key")
    await cluster_with(lab, 2, adminUserSshPublicKey=key.with_suffix(".pub").read_text())
    script = "sleep 600"
    await lab.submit("job", nodeCount=2, **custom(script))
    await lab.reaches("job", "running")
    listed = await logins(lab, key)
    first = listed[0]

    async def address() -> bytes:
        return (await ran(*first.words("cat $AZ_BATCHAI_MPI_HOST_FILE")))[1]

    hosts = (await until(address)).decode().split()
    assert hosts == [one.host for one in listed]

    scale = {"properties": {"scaleSettings": {"manual": {"targetNodeCount": 0}}}}
    await (await lab.client.jobs.begin_terminate(*lab.place, "job")).result()
    await lab.client.clusters.update(GROUP, lab.workspace, CLUSTER, scale)

    async def closed() -> bool:
        return "Connection refused" in (await ran(*first.words("true")))[2]

    await until(closed)
