"""`slipway ssh-config`: makes a running job a host of ssh."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from slipway.client.entry.places import Place
from slipway.client.entry.program import entering
from slipway.client.entry.run import path_of
from slipway.client.entry.session_key import new_key, session_key
from slipway.client.entry.ssh_config import NO_SSHD, config, host_of, name_of, preparing
from slipway.client.entry.tools import Person, command
from slipway.client.profiles import file_of
from slipway.commands.shell.shell import find
from slipway.failure import Failure
from slipway.terminal.screen import put, say


def run(job: str, rank: int, url: str, key: str) -> int:
    """Prepare the node, and write the files for ssh here. Raises Failure."""
    with session_key() as own:
        place, person = find(job, rank, url, key, own)
        return _prepared(place, person, url)


def _prepared(place: Place, person: Person, url: str) -> int:
    folder = file_of(os.environ).parent / "ssh"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    public_key = _key(folder / f"{name_of(place)}.key")
    words = entering(place.job, place.attempt, place.rank, preparing(place, public_key))
    tool = command(place, words, person, terminal=False)
    answer = subprocess.run(
        [path_of(tool[0]), *tool[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
    )
    if answer.returncode == NO_SSHD:
        raise Failure(
            f"there is no sshd where {place.job} runs, and ssh needs one: add openssh-server to its image, "
            "or use `slipway shell` and `slipway forward`, which need none"
        )
    if answer.returncode:
        raise Failure(f"{place.job} could not be prepared for ssh: exit code {answer.returncode}")
    host, name = host_of(answer.stdout.decode(errors="replace")), name_of(place)
    (folder / f"{name}.known").write_text(f"{name} {host.key}\n")
    shell = [*_slipway(), "shell", *(("--url", url) if url else ())]
    (folder / f"{name}.conf").write_text(config(place, host, shell, folder))
    put(f"ssh {name}")
    say(f'the first line of ~/.ssh/config has to be: Include "{folder}/*.conf"')
    return 0


def _key(file: Path) -> str:
    """The public half of a new key, which opens this job alone."""
    for one in (file, file.with_name(f"{file.name}.pub")):
        one.unlink(missing_ok=True)
    path_of("ssh-keygen")
    return new_key(file)


def _slipway() -> list[str]:
    """The words that start this command, also from an editor that has another PATH."""
    own = shutil.which("slipway")
    return [own] if own else [sys.executable, "-m", "slipway.main"]
