"""Jobs under Open MPI: our own calls of mpirun, and what lets a job's calls find its nodes."""

import json
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from local.batchai.plan import Ground

_INSTALL = "Install Open MPI (Debian, Ubuntu: apt-get install openmpi-bin; macOS: brew install open-mpi)"
_SSH = Path(__file__).with_name("ssh.py")


def under_mpirun(ground: Ground, text: str) -> tuple[str, ...]:
    """Shell text in each of the job's processes, in blocks over the nodes. Raises CannotLaunch."""
    mpirun = ground.program("mpirun", _INSTALL)
    count = ground.count
    spread: tuple[str, ...] = ()
    if ground.nodes > 1:
        each = -(-count // ground.nodes)
        hosts = ground.envs[0]["AZ_BATCHAI_MPI_HOST_FILE"]
        spread = ("--hostfile", hosts, "--map-by", f"ppr:{each}:node:oversubscribe")
    else:
        spread = ("--oversubscribe",)
    options = ("--allow-run-as-root", "--bind-to", "none", *spread)
    # mpirun would start all of them in its own directory, which is that of the first node.
    start = f'cd "$AZ_BATCHAI_JOB_TEMP/wd" || exit\n{text}'
    return (mpirun, *options, "-n", str(count), "bash", "-c", start)


def write_ssh(directory: Path, nodes: Mapping[str, tuple[Path, Sequence[int]]]) -> None:
    """Put an `ssh` there that reaches the job's nodes, which are this machine; root and GPUs by address."""
    described = {
        address: {"root": str(root), "gpus": ",".join(map(str, gpus))}
        for address, (root, gpus) in nodes.items()
    }
    file = directory / "nodes.json"
    file.write_text(json.dumps(described))
    # An image has none of this machine's programs: it gets the text, for a Python of its own.
    shutil.copy(_SSH, directory / "ssh.py")
    own, program, known = (shlex.quote(str(one)) for one in (sys.executable, directory / "ssh.py", file))
    script = directory / "ssh"
    script.write_text(
        f"#!/bin/sh\nfor python in {own} python3 python; do\n"
        f'  command -v "$python" >/dev/null && exec "$python" -I -S {program} {known} "$@"\n'
        'done\necho "ssh: needs Python 3 in the image" >&2\nexit 255\n'
    )
    script.chmod(0o755)
