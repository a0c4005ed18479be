"""The command lines of the tools that enter a job, as words. Pure.

No word of a place meets a shell, but for those that a login node's shell reads: these are quoted.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slipway.client.entry.places import Place
from slipway.failure import Failure

#: ssh notices within a minute that the other side is gone.
_KEEP_ALIVE = ("-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4")


@dataclass(frozen=True)
class Person:
    """The person who enters: their account on this machine, the context of their kubeconfig; "" for none."""

    account: str = ""
    context: str = ""
    #: the folder with the key for the nodes of a local stack
    login: str = ""


def command(place: Place, words: Sequence[str], person: Person, *, terminal: bool) -> list[str]:
    """The words of the tool that runs `words` beside the job. Raises Failure where none does."""
    if place.reason or place.tool == "task":
        raise Failure(by_hand(place))
    if place.tool == "kubectl":
        return _kubectl(place, words, person, terminal=terminal)
    if place.tool == "srun":
        return _srun(place, words, person, terminal=terminal)
    values = place.values
    host = ("-p", values["port"], "-l", values["user"], values["host"])
    return ["ssh", *_KEEP_ALIVE, *_login(person), "-t" if terminal else "-T", *host, shlex.join(words)]


def _login(person: Person) -> list[str]:
    """The options of ssh for a local stack: its key beside the person's own, and its own list of hosts."""
    if not person.login:
        return []
    keys = [f"{person.login}/id_ed25519", "~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa"]
    options = [f"IdentityFile={quoted(one)}" for one in keys]
    options += [f"UserKnownHostsFile={quoted(f'{person.login}/known_hosts')}"]
    options += ["StrictHostKeyChecking=accept-new"]
    return [word for option in options for word in ("-o", option)]


def quoted(path: str) -> str:
    """A path for ssh, which knows quotes and percent signs. Raises Failure."""
    if any(one in path for one in '"\n\r'):
        raise Failure(f"ssh takes no such path: {path!r}; choose another one")
    return f'"{path.replace("%", "%%")}"'


def by_hand(place: Place) -> str:
    """Where the job is, and why no command of ours goes there, as a sentence."""
    values = ", ".join(f"{name} {value}" for name, value in place.values.items() if value)
    return f"{place.job} runs here: {values}. {place.reason}"


def _kubectl(place: Place, words: Sequence[str], person: Person, *, terminal: bool) -> list[str]:
    values = place.values
    flags = ("--stdin", "--tty") if terminal else ("--stdin",)
    container = f"--container={values['container']}"
    return [*kubectl(place, person), "exec", *flags, container, values["pod"], "--", *words]


def kubectl(place: Place, person: Person) -> list[str]:
    """kubectl for the namespace of the job, with the person's own kubeconfig."""
    context = [f"--context={person.context}"] if person.context else []
    return ["kubectl", *context, f"--namespace={place.values['namespace']}"]


def _srun(place: Place, words: Sequence[str], person: Person, *, terminal: bool) -> list[str]:
    values = place.values
    srun = [
        "srun",
        f"--jobid={values['job']}",
        "--overlap",
        "--nodes=1",
        "--ntasks=1",
        f"--nodelist={values['node']}",
        "--export=NONE",  # without it the person's own variables would go to the node
        "--chdir=/",
        "--mpi=none",
        "--quiet",
        *(("--pty",) if terminal else ()),
        *words,
    ]
    if values["login"]:
        host = ("-l", values["user"], values["login"])
        return ["ssh", *_KEEP_ALIVE, "-t" if terminal else "-T", *host, shlex.join(srun)]
    is_own = values["user"] == person.account
    return srun if is_own else ["sudo", f"--user={values['user']}", "--", *srun]


def forwarding(place: Place, ports: Mapping[int, int], person: Person) -> list[str]:
    """The words of the tool that forwards ports (of the job → of this machine); none if it cannot."""
    if place.reason or place.tool == "task":
        raise Failure(by_hand(place))
    if place.tool == "kubectl":
        pairs = [f"{local}:{remote}" for remote, local in ports.items()]
        return [
            *kubectl(place, person),
            "port-forward",
            "--address=127.0.0.1",
            f"pod/{place.values['pod']}",
            *pairs,
        ]
    if place.tool == "srun":
        return []
    values = place.values
    pairs = [f"127.0.0.1:{local}:127.0.0.1:{remote}" for remote, local in ports.items()]
    options = [word for pair in pairs for word in ("-L", pair)]
    host = ("-p", values["port"], "-l", values["user"], values["host"])
    return [
        "ssh",
        *_KEEP_ALIVE,
        *_login(person),
        "-o",
        "ExitOnForwardFailure=yes",
        "-N",
        "-T",
        *options,
        *host,
    ]
