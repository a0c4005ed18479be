"""search: the conditions of a list that an overview can check by what it has read of jobs. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from shared.core.caller import Caller
from shared.core.ledger.ended import Ended
from shared.operate.listing import text_of
from shared.operate.overview.active_jobs import ActiveJob


class Search(NamedTuple):
    """Conditions that all have to hold; an empty one always does."""

    source: str = ""
    team: str = ""
    experiment: str = ""
    words: tuple[str, ...] = ()

    def fits(self, job: ActiveJob | Ended) -> bool:
        """Whether a job fulfils them, as it would in a list."""
        return (
            self.source in ("", job.source)
            and self.team in ("", job.team)
            and self.experiment in ("", job.experiment)
            and self._has_words(job)
        )

    def _has_words(self, job: ActiveJob | Ended) -> bool:
        if not self.words:
            return True
        error = job.error if isinstance(job, Ended) else ""
        text = f"{job.name}\n{job.id}\n{error}".casefold()
        return all(word in text for word in self.words)


def search_of(parameters: Mapping[str, str]) -> Search:
    """The conditions of a request. Raises Misuse."""
    owner = parameters.get("owner", "")
    return Search(
        source=Caller(owner).source if owner else "",
        team=parameters.get("team", ""),
        experiment=parameters.get("experiment", ""),
        words=tuple(text_of(parameters, "contains").casefold().split()),
    )
