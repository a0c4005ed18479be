"""How long Azure's host takes over what it does; each is a setting, so that a test can shorten it openly."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from local.host.settings import SettingsError


@dataclass(frozen=True, kw_only=True)
class Times:
    """In seconds. The setting of each has its name: `hidden` is LOCAL_HOST_HIDDEN_SECONDS.

    Sources: functions-host.md and host.json's `singleton`; QueueProcessor, SingletonListener.
    """

    #: A received message is invisible to others (no member of host.json); renewed while it is worked on.
    hidden: float = 600.0
    #: The lease of a timer, which outlives a host that is killed.
    timer_lease: float = 60.0
    #: A host without that lease tries again.
    timer_retry: float = 60.0
    #: Storage gives no answer: the host ends.
    outage: float = 24.0
    #: The worker of a host that is killed goes on; then its container ends.
    orphan: float = 120.0
    #: A container without events is looked through again.
    blob_scan: float = 10.0


def read_times(settings: Mapping[str, str]) -> Times:
    """Azure's times, but for those that are set. Raises SettingsError."""
    return Times(**{name: _seconds(settings, name, usual) for name, usual in asdict(Times()).items()})


def _seconds(settings: Mapping[str, str], name: str, default: float) -> float:
    setting = f"LOCAL_HOST_{name.upper()}_SECONDS"
    try:
        return float(settings.get(setting) or default)
    except ValueError:
        raise SettingsError(f"the setting {setting} must be a number, not {settings[setting]!r}") from None
