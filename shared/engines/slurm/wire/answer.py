"""An answer of slurmrestd, with its errors as Slipway's classes. Pure.

The HTTP status does not show acceptance: 200 comes with errors, 500 with a job that exists, 504 with an
unknown outcome. The codes in the body decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.core.errors import Busy, EngineError, Misconfigured, NotFound, Rejected, Saturated, Transient
from shared.engines.slurm.wire.dialect import integer

#: Codes of slurmctld.
SLURMCTLD = range(2000, 3000)
#: Error code (slurm_errno.h) → what the caller does. Other codes leave the outcome unknown.
_UNKNOWN_JOB = 2017
_MEANINGS: dict[int, type[EngineError]] = {
    _UNKNOWN_JOB: NotFound,
    9001: Rejected,  # the request could not be read
    9003: NotFound,  # slurmdbd found nothing
    **dict.fromkeys((2000, 2001, 2002, 2003, 2010, 2045, 2066, 2105), Misconfigured),
    # A name from the operator is wrong: a node, a distribution, licenses, a reservation, a workload key…
    **dict.fromkeys((2018, 2023, 2048, 2052, 2053, 2057, 2094, 2099, 2114, 2123, 2133), Misconfigured),
    **dict.fromkeys((2004, 2005, 2006, 2014, 2015, 2029, 2044, 2051, 2069, 2072, 2115, 2119), Rejected),
    **dict.fromkeys((2050, 2074), Saturated),
}
#: The codes for which `sbatch` repeats a submission: EAGAIN (MaxJobCount is reached), "unable to create job
#: record, try again" (the same, in other versions), busy nodes. For other calls they are inconclusive.
_FULL = frozenset({11, 2007, 2016})


@dataclass(frozen=True)
class Answer:
    """An answer: status, body, and the codes and texts of its errors and warnings."""

    status: int
    body: Mapping[str, Any]

    @property
    def errors(self) -> list[tuple[int, str]]:
        """Code and text of each error."""
        return [
            (integer(one.get("error_number")) or integer(one.get("error_code")) or 0, _text(one))
            for one in _objects(self.body.get("errors"))
        ]

    @property
    def codes(self) -> list[int]:
        """The codes of the errors, without their texts."""
        return [code for code, _ in self.errors]

    @property
    def warnings(self) -> list[str]:
        """The texts of the warnings, without slurmctld's reasons for not starting an accepted job at once."""
        members = _objects(self.body.get("warnings"))
        return [_text(one) for one in members if one.get("source") != "slurm_submit_batch_job()"]

    def number(self) -> int | None:
        """The number of the submitted job, if it has one: then the job exists, with any status."""
        result = self.body.get("result")
        value = self.body.get("job_id") or (result.get("job_id") if isinstance(result, dict) else None)
        return value if isinstance(value, int) and value > 0 else None

    def full(self) -> Saturated | None:
        """The error if slurmctld accepts no more jobs now; None for other answers."""
        for code, text in self.errors:
            if code in _FULL:
                return Saturated(f"slurmctld takes no more jobs now (MaxJobCount): {text} ({code})")
        return None

    def failure(self) -> EngineError | None:
        """The error of this answer; None if it has none."""
        for code, text in self.errors:
            if code in _MEANINGS:
                return _MEANINGS[code](f"Slurm: {text} ({code})")
        if self.errors or self.status >= 400:
            texts = "; ".join(f"{text} ({code})" for code, text in self.errors) or f"status {self.status}"
            # slurmctld itself answered: no reason to leave the cluster and all its jobs alone.
            answered = any(code in SLURMCTLD for code in self.codes)
            is_busy = answered or self.status == 429  # of a gateway before it
            return (Busy if is_busy else Transient)(f"Slurm: {texts}")
        return None


def _text(one: Mapping[str, Any]) -> str:
    words = [str(one[name]) for name in ("description", "error") if one.get(name)]
    return ": ".join(words)[:300]


def _objects(members: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; an entry in another form counts as an empty object."""
    every = members if isinstance(members, list) else [members] if members else []
    return [one if isinstance(one, dict) else {} for one in every]
