"""The processes of a run, side by side: started, watched, and ended together."""

import base64
import errno
import json
import os
import re
import signal
import subprocess
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, List, Optional, Tuple

from shared.engines.node.ends import NOT_READY, End, with_words
from shared.engines.node.families import LOOK_EVERY, Ending, Family
from shared.engines.node.files import expand, open_end
from shared.engines.node.private import opened

#: Seconds between SIGTERM and SIGKILL, where a plan says nothing else.
GRACE = 10.0
#: Seconds for which the scheduler's controller may be away.
PATIENCE = 600.0
#: What the author of a job chose has these names up to the job's own process, where a shell renames it
#: (`shells.py`): no program of ours starts with a PATH, a PYTHONPATH or a directory of the job's.
OWN = "SLIPWAY_OWN_"
#: Variables that set an MPI, for which `mpirun` looks before it starts a process of the job.
MPI = ("OMPI_", "OPAL_", "PRTE_", "PMIX_", "UCX_")
#: Errors of a start that are the program's own: the file is not a program, or not one that we may run here.
_UNRUNNABLE = frozenset({errno.EACCES, errno.EPERM, errno.ENOEXEC, errno.ELIBBAD, errno.ENOTDIR, errno.ELOOP})
_PLACE = re.compile(r"\{([A-Z0-9_]+)\}")


class Failed(Exception):
    """A process ended with another code than zero."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
        self.by_signal = code in (128 + signal.SIGTERM, 128 + signal.SIGKILL)


def words(argv: List[str], env: Dict[str, str]) -> List[str]:
    """A command of the plan, with {NAME} replaced; $NAME is left for the shell."""
    return [_PLACE.sub(lambda match: env.get(match.group(1), match.group(0)), word) for word in argv]


def plan_of(text: str) -> Dict[str, Any]:
    """The plan as the program gets it: as it is, or packed where it is long."""
    if not text.startswith("{"):
        text = zlib.decompress(base64.b64decode(text)).decode()
    return dict(json.loads(text))


def wait_until_ready(argv: List[str], check: Callable[[], None]) -> None:
    """Wait for the scheduler: its commands fail at once while its controller restarts. Raises End."""
    until = time.time() + PATIENCE
    while subprocess.call(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        check()
        if time.time() > until:
            text = "The scheduler does not answer on its node"
            raise End(NOT_READY, "infrastructure", text, final=False)
        time.sleep(1)


def define(pairs: List[List[str]], env: Dict[str, str]) -> None:
    """Set variables in their order, as each may use those before it."""
    for name, text in pairs:
        env[name] = expand(text, env)


def chosen(plan: Dict[str, Any], env: Dict[str, str]) -> Dict[str, str]:
    """The variables that the job's author chose: a value may use those before it, a secret's is as it is."""
    own: Dict[str, str] = {}
    for name, text in plan["job"]:
        own[name] = expand(text, {**env, **own})
    return {**own, **plan["secrets"]}


def printed(argv: List[str], message: str) -> str:
    """What a command of the scheduler prints. Raises OSError, with the message and its last words."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text, errors = process.communicate()
    if process.returncode:
        raise OSError(with_words(message, errors.decode(errors="replace")))
    return text.decode()


def clear(commands: List[List[str]], env: Dict[str, str]) -> None:
    """Run the commands that put away what a run has made, if it has made anything."""
    for command in commands if "SLIPWAY_TEMP" in env else ():
        subprocess.call(words(command, env), stderr=subprocess.DEVNULL)


def run_all(
    steps: List[Dict[str, Any]],
    beside: List[Dict[str, Any]],
    env: Dict[str, str],
    directory: Path,
    check: Callable[[], None],
    own: Optional[Dict[str, str]] = None,
    ending: Optional[Ending] = None,
) -> None:
    """Run the steps until all but the services have ended; `check` is called meanwhile, and may raise.

    `own`: the variables that the job's author chose, if the steps start processes of the job.
    Raises Failed for the first that fails, FileNotFoundError for a program that is missing or cannot be run,
    Displaced if one of their files cannot be a file. The steps `beside` end with them; whether those start,
    and how they end, does not matter. After any error, no process is left.
    """
    ending = ending or Ending(GRACE)
    running: List[Tuple[bool, subprocess.Popen[bytes]]] = []
    families: List[Family] = []
    try:
        for step in steps:
            running.append((step["service"], _start(step, env, directory, own)))
            families.append(Family(running[-1][1], step["isFar"]))
        for step in beside:
            with suppress(OSError):
                families.append(Family(_start(step, env, directory), step["isFar"]))
        _watch(running, families, check)
    except BaseException as error:
        is_asked = not isinstance(error, Failed) or error.code == 128 + signal.SIGTERM
        time.sleep(LOOK_EVERY if is_asked else 0)  # this program's own signal may come a moment later
        ending.end(families, not is_asked)
        raise
    ending.end(families, is_own=True)


def _watch(
    running: List[Tuple[bool, "subprocess.Popen[bytes]"]], families: List[Family], check: Callable[[], None]
) -> None:
    """Wait until all but the services have ended. Raises Failed."""
    waiting = True
    while waiting:
        check()
        waiting = any(process.poll() is None for service, process in running if not service)
        for _, process in running:
            if process.poll():
                raise Failed(128 - process.returncode if process.returncode < 0 else process.returncode)
        for family in families:
            family.note()  # a step that has ended leaves no process behind
        time.sleep(LOOK_EVERY if waiting else 0)


def _start(
    step: Dict[str, Any], env: Dict[str, str], directory: Path, own: Optional[Dict[str, str]] = None
) -> "subprocess.Popen[bytes]":
    values = dict(env)
    for name, text in step["environment"]:
        values[name] = expand(text, values)
    values.update(step["literal"])
    values.update(_disguised(own or {}, values, [name for name, _ in step["environment"]]))
    out, err = words(step["files"], values)
    private = step.get("input", "")  # what only this step may know, and not the processes beside it
    with open_end(directory / out) as stdout, _errors(directory, err) as stderr, opened(private) as stdin:
        argv = words(step["argv"], values)
        try:
            return subprocess.Popen(
                argv,
                env=values,
                cwd="/",
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            if error.errno in _UNRUNNABLE:
                text = f"{argv[0]} that can be run ({error.strerror})"
                raise FileNotFoundError(error.errno, error.strerror, text) from None
            raise


def _disguised(own: Dict[str, str], values: Dict[str, str], of_step: List[str]) -> Dict[str, str]:
    """The job's own variables, as they travel. Those of the step stand, and so do Slipway's own."""
    disguised = {}
    for name, value in own.items():
        stands = name in values and (name in of_step or name.startswith("SLIPWAY_"))
        disguised[OWN + name] = values[name] if stands else value
        if name.startswith(MPI) and name not in values:
            disguised[name] = value
    return disguised


def _errors(directory: Path, name: str) -> BinaryIO:
    return Path(os.devnull).open("ab") if name == os.devnull else open_end(directory / name)
