"""The daemons of the mini cluster: child processes that can be killed and restarted at will."""

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from signal import SIGKILL

from local.process import Child, ProcessError, child
from local.slurm.accounting import Accounting, database, first_tables, rights, served, slurmdbd_conf
from local.slurm.configuration import Site
from local.slurm.programs import Programs, SlurmError, api, openapi
from local.slurm.token import token

_PATIENCE = 20.0  # seconds in which a process that does not answer yet has to make progress
#: From here on slurmrestd has to be started as another user, which root alone can do.
_STRICT = (25, 5)


class Slurm:
    """A running cluster. Its processes are our children, except those that nodes start."""

    def __init__(self, site: Site, programs: Programs, running: AsyncExitStack) -> None:
        self._site = site
        self._programs = programs
        self._port = site.gateway_port
        self._running = running
        self._processes: dict[str, Child] = {}

    @property
    def url(self) -> str:
        """The address of slurmrestd, on the loopback interface."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def api(self) -> str:
        """The path of the newest interface that we know of this version, e.g. /slurm/v0.0.38."""
        return api(self._site.version)

    @property
    def user(self) -> str:
        """The user that a token has to name; this user owns all daemons, and jobs run as it."""
        return self._site.user

    @property
    def home(self) -> Path:
        """The directory that holds configuration, state, logs and keys."""
        return self._site.home

    @property
    def jwt_key(self) -> Path:
        """The file of the key that signs tokens (HS256)."""
        return self.home / "jwt.key"

    @property
    def shared(self) -> Path:
        """A directory that all nodes see."""
        return self.home / "shared"

    @property
    def job_path(self) -> str:
        """PATH for jobs: the programs of Options.node_path, then the system's."""
        return (
            f"{(self.home / 'path').read_text()}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        )

    @property
    def client_environment(self) -> dict[str, str]:
        """The variables with which a person's srun is the cluster's own, and finds it."""
        return {"PATH": self._programs.path, "SLURM_CONF": str(self.client_conf)}

    @property
    def exports(self) -> str:
        """The same as words for a person's shell, whose other programs stay."""
        own = f' PATH="{self._programs.root}/slurm:$PATH"' if self._programs.root else ""
        return f"export SLURM_CONF={self.client_conf}{own}"

    @property
    def logs(self) -> Path:
        """The directory of the daemons' logs."""
        return self.home / "logs"

    @property
    def completions(self) -> Path:
        """The file in which slurmctld notes how each job ended."""
        return self.logs / "completions.log"

    @property
    def client_conf(self) -> Path:
        """The value of SLURM_CONF for people and tests; the daemons' own marks what ends with the cluster."""
        return self.home / "client.conf"

    @property
    def partitions(self) -> tuple[str, ...]:
        """The names of the partitions, the default one first."""
        return tuple(partition.name for partition in self._site.partitions)

    @property
    def processes(self) -> tuple[Child, ...]:
        """The daemons, for watching; nodes are not among them."""
        return tuple(self._processes.values())

    def token(self, seconds: int = 86400) -> str:
        """A token of `user`, valid for that time."""
        return token(self.jwt_key.read_bytes(), self.user, int(time.time()), seconds)

    def nodes(self) -> frozenset[str]:
        """The nodes whose slurmd runs now."""
        names = (name for partition in self._site.partitions for name in partition.node_names)
        return frozenset(name for name in names if self._slurmd(name))

    async def command(self, *argv: str) -> str:
        """The output of a client command such as squeue. Raises SlurmError if it fails."""
        return await self._output(*argv, conf=self.client_conf)

    async def kill_controller(self) -> None:
        """Kill slurmctld with SIGKILL: it saves nothing."""
        await self._kill("slurmctld")

    async def start_controller(self) -> None:
        """Start slurmctld on the state that it has saved, and wait until it answers."""
        # -i: start even if the state cannot be read; at the first start there is none.
        await self._start("slurmctld", "slurmctld", "-D", "-i", "-f", self._conf)
        await self._wait_until("slurmctld", self._controller_answers)

    async def kill_gateway(self) -> None:
        """Kill slurmrestd with SIGKILL, as a crash does."""
        await self._kill("slurmrestd")

    async def start_gateway(self) -> None:
        """Start slurmrestd and wait until it takes connections."""
        extra, conf, another = {"SLURM_JWT": "daemon"}, self._conf, list[str]()
        if self._site.version < _STRICT:
            extra["SLURMRESTD_SECURITY"] = "disable_user_check"
        else:
            # It refuses to run as root or SlurmUser; and no other user may read our directory.
            another = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            conf = str(shutil.copy(conf, self._site.sockets / "slurm.conf"))
        options = ("-f", conf, "-a", "rest_auth/jwt", "-s", self._openapi)
        program = shutil.which("slurmrestd", path=self._programs.path) or "slurmrestd"
        await self._start("slurmrestd", *another, program, *options, f"127.0.0.1:{self._port}", extra=extra)
        await self._wait_until("slurmrestd", lambda: _listens(self._port))

    async def kill_node(self, name: str, *, only_slurmd: bool = False) -> None:
        """Kill a node's slurmd with SIGKILL and, by default, all steps and jobs on it."""
        if only_slurmd:
            if pid := self._slurmd(name):
                os.kill(pid, SIGKILL)
        else:
            await self._output(str(self.home / "bin" / "end"), name)

    async def start_node(self, *names: str) -> None:
        """Start the slurmd of nodes, as ResumeProgram does; slurmctld notices soon after."""
        await self._output(str(self.home / "bin" / "node-on"), ",".join(names))

    async def start(self) -> None:
        """Start everything; raises SlurmError with the cause."""
        try:
            run = self.home / "run"
            await self._start(
                "munged",
                *("munged", "--foreground", "--force", f"--socket={self._site.sockets}/munge"),
                *(f"--key-file={self.home}/munge.key", f"--pid-file={run}/munged.pid"),
                *(f"--seed-file={run}/munge.seed", f"--log-file={self.logs}/munged.log"),
            )
            await self._processes["munged"].line("Created .* work threads", seconds=_PATIENCE)
            if self._site.accounting:
                await self._start_accounting(self._site.accounting)
            await self.start_controller()
            await self.start_gateway()
            fixed = [
                name
                for partition in self._site.partitions
                if not partition.elastic
                for name in partition.node_names
            ]
            if fixed:
                await self.start_node(*fixed)
                await self._wait_until("slurmctld", lambda: self._are_idle(fixed))
        except ProcessError as error:
            raise SlurmError(f"{error}\n(all logs: {self.logs})") from error

    async def end(self) -> None:
        """Kill every process of the cluster."""
        await self._output(str(self.home / "bin" / "end"))

    async def _start_accounting(self, accounting: Accounting) -> None:
        """Start the database, if need be a new one, and slurmdbd, which slurmctld needs at its start."""
        home, user = self.home, self._site.user
        store = home / "database"
        argv = database(home, user)
        if not (store / "mysql").is_dir():
            store.mkdir(exist_ok=True)
            await self._output(*argv, "--bootstrap", stdin=first_tables().encode())
        (home / "database.sql").write_text(rights())
        conf = home / "slurmdbd.conf"
        conf.touch(0o600)
        conf.write_text(slurmdbd_conf(accounting, home, user, self._site.sockets / "munge"))
        await self._start("mariadbd", *argv, *served(accounting, home))
        await self._wait_until("mariadbd", lambda: _listens(accounting.database))
        await self._start("slurmdbd", "slurmdbd", "-D")
        await self._wait_until("slurmdbd", lambda: _listens(accounting.slurmdbd))

    @property
    def _openapi(self) -> str:
        return openapi(self._site.version, accounting=self._site.accounting is not None)

    @property
    def _conf(self) -> str:
        return str(self.home / "slurm.conf")

    async def _start(self, name: str, *argv: str, extra: dict[str, str] | None = None) -> None:
        log = self._running.enter_context((self.logs / f"{name}.out").open("a", encoding="utf-8"))

        def write(line: str) -> None:
            log.write(line + "\n")
            log.flush()

        env = {"PATH": self._programs.path, "SLURM_CONF": self._conf} | (extra or {})
        program = shutil.which(argv[0], path=self._programs.path) or argv[0]
        started = child([program, *argv[1:]], name=name, env=env, cwd=self.home, on_line=write)
        self._processes[name] = await self._running.enter_async_context(started)

    async def _kill(self, name: str) -> None:
        self._processes[name].signal(SIGKILL)
        await self._processes[name].wait()

    async def _wait_until(self, name: str, answers: Callable[[], Awaitable[bool]]) -> None:
        """Raises ProcessError when the daemon ends, or stalls, before."""
        process = self._processes[name]

        async def wait() -> None:
            while not await answers():
                if process.returncode is not None:
                    shown = "".join(f"\n  | {line}" for line in process.recent[-12:])
                    raise ProcessError(f"{name} ended; its last lines:{shown}")
                await asyncio.sleep(0.05)

        await process.patiently(wait(), _PATIENCE)

    async def _controller_answers(self) -> bool:
        try:
            return " is UP" in await self.command("scontrol", "ping")
        except SlurmError:
            return False

    async def _are_idle(self, names: Sequence[str]) -> bool:
        states = await self.command("sinfo", "--noheader", "--format=%T", f"--nodes={','.join(names)}")
        return set(states.split()) == {"idle"}

    async def _output(self, *argv: str, conf: Path | None = None, stdin: bytes = b"") -> str:
        env = {"PATH": self._programs.path} | ({"SLURM_CONF": str(conf)} if conf else {})
        process = await asyncio.create_subprocess_exec(
            *(shutil.which(argv[0], path=self._programs.path) or argv[0], *argv[1:]),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=env,
        )
        out, error = await process.communicate(stdin)
        if process.returncode:
            message = error.decode("utf-8", "replace").strip()
            raise SlurmError(f"{argv[0]} failed ({process.returncode}): {message}")
        return out.decode("utf-8", "replace")

    def _slurmd(self, node: str) -> int | None:
        try:
            pid = int((self.home / "run" / f"{node}.pid").read_text())
            # A pid file outlives its process; another process may have its number by now.
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError):
            return None
        return pid if node.encode() in words and self._conf.encode() in words else None


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
