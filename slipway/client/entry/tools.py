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
#: On a login node: srun without the variables of the account, of which dozens would decide about this step.
#: It ends when the person is gone, of which sshd tells nothing without a terminal.
_CLEAN = r"""
for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
  case $name in
  PATH | HOME | USER | LOGNAME | LD_LIBRARY_PATH | *_CONF) ;;
  *) command unset "$name" 2>/dev/null ;;
  esac
done
[ ! -t 0 ] || exec "$@"
exec 3<&0
"$@" <&3 3<&- &
child=$!
exec 3<&- </dev/null
(while [ -d "/proc/$PPID" ]; do sleep 2; done; kill "$child") >/dev/null 2>&1 &
watcher=$!
wait "$child"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
"""


@dataclass(frozen=True)
class Person:
    """The person who enters: their account on this machine, the context of their kubeconfig; "" for none."""

    account: str = ""
    context: str = ""
    #: the folder with the key for the nodes of a local stack
    login: str = ""
    #: the file of the session's key, beside its certificate for the login node of this place
    session: str = ""


def command(place: Place, words: Sequence[str], person: Person, *, terminal: bool) -> list[str]:
    """The words of the tool that runs `words` beside the job. Raises Failure where none does."""
    if place.reason or place.tool == "task":
        raise Failure(by_hand(place))
    if place.tool == "kubectl":
        return _kubectl(place, words, person, terminal=terminal)
    if place.tool == "srun":
        return _srun(place, words, person, terminal=terminal)
    return [*_ssh(place, person, "-t" if terminal else "-T"), shlex.join(words)]


def _ssh(place: Place, person: Person, *options: str) -> list[str]:
    """ssh to a node, or to a login node."""
    values = place.values
    login = values.get("login")
    own = _session(person) if login else _login(person)
    port = [] if login else ["-p", values["port"]]
    return ["ssh", *_KEEP_ALIVE, *own, *options, *port, "-l", values["user"], login or values["host"]]


def _session(person: Person) -> list[str]:
    """The options of ssh for the key of a session: its certificate says for which job that is."""
    if not person.session:
        return []
    options = [f"IdentityFile={quoted(person.session)}", "IdentitiesOnly=yes"]
    # An open connection of another session would lead into the job of that one.
    options += ["ControlPath=none", "ControlMaster=no"]
    return [word for option in options for word in ("-o", option)]


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
    if person.session:
        return [*_ssh(place, person, "-t" if terminal else "-T"), shlex.join(words)]
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
        "--unbuffered",  # else what has no end of a line waits on the node for one
        "--quiet",
        *(("--pty",) if terminal else ()),
        *words,
    ]
    if values["login"]:
        line = shlex.join(["/bin/sh", "-c", _CLEAN, "slipway", *srun])
        return [*_ssh(place, person, "-t" if terminal else "-T"), line]
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
    pairs = [f"127.0.0.1:{local}:127.0.0.1:{remote}" for remote, local in ports.items()]
    options = [word for pair in pairs for word in ("-L", pair)]
    return _ssh(place, person, "-o", "ExitOnForwardFailure=yes", "-N", "-T", *options)
