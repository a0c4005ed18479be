"""The environment of every process on a machine, and its use in texts. Pure."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from local.nodes.machine import Directories

#: A variable in a text.
VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
#: Programs that every machine has, behind the directories of the settings.
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#: For every mpirun of a job, with the names of Open MPI 4 (OMPI) and 5 (PRTE).
OPEN_MPI = {
    # Jobs ran as root, in containers as well.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # All nodes are one machine: its cores do not limit how many processes a node takes.
    "OMPI_MCA_orte_set_default_slots": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_prte_set_default_slots": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": "slot:oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    # Two nodes would use the same names in shared memory; a machine without a network has only loopback.
    "OMPI_MCA_btl": "^vader,sm",
    "OMPI_MCA_btl_tcp_if_exclude": "none",
}


def base_environment(directories: Directories, path: Sequence[Path]) -> dict[str, str]:
    """The environment of every process. No variable of the emulator's own environment reaches a job."""
    return {
        "PATH": ":".join([*map(str, path), _SYSTEM_PATH]),
        "HOME": str(directories.root),
        "LANG": "C.UTF-8",
    }


def expand(text: str, env: Mapping[str, str]) -> str:
    """The text with $NAME and ${NAME} replaced where the name is known."""
    return VARIABLE.sub(lambda match: env.get(match[1] or match[2], match[0]), text)
