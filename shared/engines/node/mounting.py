"""What a run needs before the job: programs, volumes, linked below the job's mount root, and its code."""

import os
import re
import shutil
from pathlib import Path
from typing import Any, Callable, Dict, List

from shared.engines.node.ends import NO_PROGRAM, NOT_PREPARED, NOT_READY, End, with_words
from shared.engines.node.files import PRIVATE, load_end
from shared.engines.node.processes import Failed, run_all

#: The file in which a node's program explains why it could not mount, and how many bytes of it are kept.
REASONS, LONGEST = "mounting.txt", 1000
#: The same for the code of the job, with a first word of `code.py`: the code of the end, its reason, and a
#: mark in the record: another attempt costs no retry, or storage has other bytes.
CODE_REASONS = "code.txt"
CODE_ENDS = {
    "expired": (NOT_READY, "infrastructure", "unstarted"),
    "deleted": (NOT_PREPARED, "preparation", ""),
    "different": (NOT_READY, "infrastructure", "otherCode"),
    "hostile": (NOT_PREPARED, "preparation", ""),
    "failed": (NOT_READY, "infrastructure", ""),
}


def check_programs(names: List[str], env: Dict[str, str]) -> None:
    """Find the scheduler's programs. Raises End: without them no run can start."""
    path = env.get("PATH", "").strip(":")
    for name in names:
        if shutil.which(name, path=path) is None:
            place = f"{path or 'an empty PATH'} on {os.uname()[1]}"
            text = f"There is no {name} in {place}. An operator has to set `path` of the cluster"
            raise End(NO_PROGRAM, "unsupported", text)


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


def bring_code(plan: Dict[str, Any], env: Dict[str, str], check: Callable[[], None]) -> None:
    """Put the job's code onto every node, where its processes expect it.

    Raises End; an address that is no longer valid costs no retry, as another attempt gets a new one.
    """
    temporary = Path(env["SLIPWAY_TEMP"])
    try:
        run_all(plan.get("code", []), [], env, temporary, check)
    except Failed:
        check()
        text = (temporary / CODE_REASONS).read_text(errors="replace")
        parts = (line.partition(": ") for line in text.splitlines())
        word, reason = next(((one, rest) for one, _, rest in parts if one in CODE_ENDS), ("failed", ""))
        reason = reason[:LONGEST] or with_words("its code could not be brought to a node", text)
        code, kind, mark = CODE_ENDS[word]
        raise End(code, kind, reason, mark=mark) from None


def why_not_ready(message: str, journal: Path, plan: Dict[str, Any]) -> str:
    """The message of a run whose nodes could not be made ready, with the last words of the journal.

    Lines in which a scheduler only says what it ended for that (`afterwards`) count if there are no others.
    """
    lines = load_end(journal).splitlines()
    reasons = [line for line in lines if not re.match(plan.get("afterwards", "$"), line)]
    return with_words(message, "\n".join(reasons if any(reasons) else lines), plan["secrets"].values())
