"""Runs the tool that enters a job, with this terminal, to its exit code."""

from __future__ import annotations

import asyncio
import getpass
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NamedTuple

from slipway.client.deployment import find_deployment
from slipway.client.entry.kubeconfig import context_of
from slipway.client.entry.places import Place, place_of
from slipway.client.entry.session_key import SessionKey
from slipway.client.entry.tools import Person, kubectl
from slipway.client.service import Service
from slipway.failure import Failure
from slipway.settings import login_of_stack

#: Where one gets a tool that is missing.
_SOURCES = {
    "kubectl": "install it, with a kubeconfig of your own",
    "srun": "run this on a machine of the cluster, or ask its operator to name a login node (`enter`)",
    "ssh": "install an OpenSSH client",
    "sudo": "run this as the user of the jobs",
}
#: What ssh and kubectl exit with if they do not get there, and so do the commands.
NOT_THERE = 255
#: The code of tools that did not get there, as of any command, and what they say of it.
_ITS_OWN, _REFUSALS = 1, (b"Error from server", b"srun: error: Unable to ", b"srun: fatal: ")
#: What srun says, also if it is to be quiet, of a program whose exit code is passed on.
_OF_EXIT_CODE = re.compile(rb"^srun: error: [\w.-]+: task 0: Exited with exit code \d+\n", re.MULTILINE)
#: The variables that srun needs of a person, such as the file of its configuration.
_OF_PERSON = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TERM|TMPDIR|LD_LIBRARY_PATH|KRB5CCNAME|\w+_CONF"
)
_CHUNK = 1 << 12


class Visit(NamedTuple):
    """Where a rank of a job is, and who goes there."""

    place: Place
    person: Person


async def visit(
    api: Service, job_id: str, rank: int, url: str, key: str, own: SessionKey | None = None
) -> Visit:
    """Ask where a rank of a job is; `url` and `key` as the command has them. Raises Failure.

    `own`: the key of this session, which gets the certificate of the answer.
    """
    place = place_of(await api.entry(job_id, rank, own.public if own else ""), job_id, rank)
    if own and (certificate := place.values.get("certificate")):
        own.certify(certificate)
        return Visit(place, Person(session=str(own.file)))
    address = (await find_deployment(url, key)).url if place.tool == "ssh" else ""
    return Visit(place, await asyncio.to_thread(person_of, place, address))


def person_of(place: Place, address: str = "") -> Person:
    """Who runs this command, as far as the tool needs it. `address`: that of the deployment."""
    if place.tool == "ssh":
        return Person(login=str(login_of_stack(address) or ""))
    if place.tool == "kubectl":
        return Person(context=_context(place.values["server"]))
    return Person(account=_account() if place.tool == "srun" and not place.values["login"] else "")


def _account() -> str:
    """The account of this process; variables such as USER may name another one."""
    try:
        import pwd

        return pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError):
        return getpass.getuser()


def run(words: Sequence[str], place: Place, person: Person) -> int:
    """Run a tool to its exit code, or NOT_THERE if it says that it did not get there.

    Raises Failure if it is not on this machine, or if kubectl lacks a right.
    """
    code, errors = _run(words)
    if code != _ITS_OWN or not any(one in errors for one in _REFUSALS):
        return code
    check_rights(place, person)
    return NOT_THERE


def environment_for(tool: str) -> dict[str, str]:
    """The variables of a tool: srun reads dozens, and those of another allocation would decide about this."""
    if tool != "srun":
        return {**os.environ}
    return {name: value for name, value in os.environ.items() if _OF_PERSON.fullmatch(name)}


class _Run(NamedTuple):
    """How a tool ended, and the end of what it wrote to standard error, if anyone listens."""

    code: int
    errors: bytes = b""


def _run(words: Sequence[str]) -> _Run:
    listens = subprocess.PIPE if words[0] in ("kubectl", "srun") else None
    command, tool = [path_of(words[0]), *words[1:]], _Signals()
    tool.hear()
    with subprocess.Popen(command, stderr=listens, env=environment_for(words[0])) as process:
        tool.reach(process)
        last = b""
        while process.stderr is not None and (data := os.read(process.stderr.fileno(), _CHUNK)):
            os.write(2, _OF_EXIT_CODE.sub(b"", data))
            last = (last + data)[-_CHUNK:]
        code = process.wait()
    return _Run(128 - code if code < 0 else code, last)


class _Signals:
    """Signals to this process, passed on to the tool: those that come while it starts, too."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def hear(self) -> None:
        """From now on; what this process ignores, the tool ignores, too."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._pass_on)

    def reach(self, process: subprocess.Popen[bytes]) -> None:
        """The tool has started."""
        self._process = process
        for number in self._early:
            process.send_signal(number)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)
        elif number != signal.SIGINT:  # Ctrl-C reaches the tool by the terminal already
            self._process.send_signal(number)


def path_of(tool: str) -> str:
    """The file of a tool. Raises Failure."""
    path = shutil.which(tool)
    if path is None:
        raise Failure(f"{tool} is not on this machine: {_SOURCES[tool]}")
    return path


def _context(server: str) -> str:
    """The context of the person's kubeconfig that leads to a server; "" for the current one."""
    view = [path_of("kubectl"), "config", "view", "--output=json"]
    return context_of(subprocess.run(view, stdout=subprocess.PIPE, check=False).stdout, server)


def check_rights(place: Place, person: Person, part: str = "exec") -> None:
    """Raise Failure if the person lacks a right that kubectl needs; it says so badly, or not at all.

    `part`: of a pod, `exec` or `portforward`.
    """
    if place.tool != "kubectl":
        return
    for verb, resource in (("get", "pods"), ("get", f"pods/{part}"), ("create", f"pods/{part}")):
        question = [*kubectl(place, person)[1:], "auth", "can-i", verb, *_resource(resource)]
        words = [path_of("kubectl"), *question]
        answer = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        if answer.stdout.strip() == b"no":
            text = f"your account may not {verb} {resource} in the namespace {place.values['namespace']}"
            rights = "a Role needs get on pods, and get and create on pods/exec and pods/portforward"
            raise Failure(f"{text}; {rights}")


def _resource(resource: str) -> list[str]:
    kind, _, part = resource.partition("/")
    return [kind, f"--subresource={part}"] if part else [kind]


def has_terminal() -> bool:
    """Whether a person sits there."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def kind_of_terminal() -> str:
    """The word for it, such as xterm-256color; "" for one that could mean something to a program."""
    kind = os.environ.get("TERM", "")
    return kind if kind.replace("-", "").replace(".", "").replace("+", "").isalnum() else ""
