"""When a timer fires: an NCRONTAB expression or a constant interval."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from local.host.timespan import parse_timespan
from local.host.triggers.ncrontab import Ncrontab, parse_ncrontab

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Schedule:
    """A timer's schedule; all times are UTC, as on Azure's Linux."""

    rule: Ncrontab | timedelta

    def next(self, after: datetime) -> datetime | None:
        """The first occurrence after a time, None if there is none."""
        if isinstance(self.rule, timedelta):
            return after + self.rule
        return self.rule.next(after)

    def is_fast(self, now: datetime) -> bool:
        """Whether occurrences are less than a minute apart; these are not monitored, as in Azure."""
        at = self.next(now)
        for _ in range(5):
            following = self.next(at) if at is not None else None
            if at is None or following is None:
                return False
            if following - at < _MINUTE:
                return True
            at = following
        return False


def parse_schedule(text: str) -> Schedule:
    """Parse either form; raises ValueError. An interval of zero fires without a pause, as in Azure."""
    return Schedule(parse_ncrontab(text) if " " in text.strip() else parse_timespan(text))
