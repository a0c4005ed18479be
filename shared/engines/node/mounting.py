"""The volumes of a job in a run: mounted on every node, and linked below the job's mount root."""

from pathlib import Path
from typing import Any, Callable, Dict, List

from shared.engines.node.ends import NOT_PREPARED, End
from shared.engines.node.files import PRIVATE
from shared.engines.node.processes import Failed, run_all

#: The file in which a node's program explains why it could not mount, and how many bytes of it are kept.
REASONS, LONGEST = "mounting.txt", 1000


def mount(plan: Dict[str, Any], env: Dict[str, str], check: Callable[[], None]) -> List[List[str]]:
    """Mount the volumes before anything is written below them; returns the place and the name of each.

    Raises End.
    """
    temporary = Path(env["SLIPWAY_TEMP"])
    temporary.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
    try:
        run_all(plan["mounting"], [], env, temporary, check)
    except Failed:
        check()  # a node that goes down also asks this step to end; then no mount has failed
        reason = (temporary / REASONS).read_text(errors="replace").strip().partition("\n")[0]
        raise End(NOT_PREPARED, "preparation", reason[:LONGEST] or "A volume could not be mounted") from None
    links = [[at, to, to] for at, to in plan["links"]]
    links += [[at, f"{temporary}.mounts/{n}", label] for n, (at, label) in enumerate(plan["volumes"])]
    for at, to, _ in links:
        directory = Path(env["AZ_BATCHAI_JOB_MOUNT_ROOT"], at)
        if Path(to).is_dir() and not directory.exists():
            directory.parent.mkdir(parents=True, exist_ok=True)
            directory.symlink_to(to)
    return links
