"""The end of a Job whose pods could not get their code: their first container said why. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shared.core.engine import Observation
from shared.core.job import JobState, Reason
from shared.engines import untrusted
from shared.engines.codeless import CODELESS, Codeless
from shared.engines.kubernetes.job.code import CONTAINER

_EXIT = re.compile(rf"Container {CONTAINER} for pod \S+ failed with exit code (\d+) ", re.ASCII)
#: A shell's code for a program that is missing.
_NO_PROGRAM = 127
_NO_PYTHON = Codeless(
    Reason.UNSUPPORTED, "the cluster's `image` has no python3, by which pods get the code of a job"
)
_LONGEST = 500


def without_code(pods: Sequence[Mapping[str, Any]], failed: Mapping[str, Any]) -> Observation | None:
    """The end of such a Job, from its pods, or from its condition once they are gone; None for any other."""
    for ended in _ended(pods):
        code = untrusted.exit_code(ended.get("exitCode"))
        if code:
            return _end(code, str(ended.get("message") or ""))
    match = _EXIT.search(str(failed.get("message") or ""))
    return _end(int(match[1]), "") if match else None


def _ended(pods: Sequence[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    for pod in pods:
        for one in (pod.get("status") or {}).get("initContainerStatuses") or ():
            terminated = (one.get("state") or {}).get("terminated")
            if one.get("name") == CONTAINER and terminated:
                yield terminated


def _end(code: int, printed: str) -> Observation:
    why = CODELESS.get(code) or (_NO_PYTHON if code == _NO_PROGRAM else None)
    if why is None:
        text = f"its code could not be brought to a node: the container for that ended with exit code {code}"
        why = Codeless(Reason.INFRASTRUCTURE, text)
    # The last line that it printed is its reason, after one word.
    text = printed.strip().rpartition("\n")[2].partition(": ")[2][:_LONGEST] if code in CODELESS else ""
    return why.ended(Observation(JobState.FAILED), text)
