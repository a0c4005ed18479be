"""Which settings of the shell the local app gets: limits, times, named keys; no addresses and no secrets."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.adapters.named_keys import named_keys
from shared.core.caller import ADMIN
from shared.core.errors import Misconfigured
from shared.settings import TABLE, Settings
from slipway.failure import Failure

#: Kinds of settings that hold no address, no secret and no identity.
_PLAIN = frozenset(
    {"number", "whole", "seconds", "minutes", "hours", "days", "flag", "duration", "durations"}
)
#: Names and hashes of keys, which fit any stack.
_NAMES = "SLIPWAY_NAMED_KEYS"
#: Of the local host: hashes of the keys that its own API needs.
_ADMIN_KEYS = "LOCAL_HOST_ADMIN_KEYS"
#: Settings that the stack sets itself, or on which existing data depends.
_FIXED = frozenset({"SLIPWAY_SHARDS", "SLIPWAY_WEBHOOK_LOOPBACK", "SLIPWAY_INSIGHTS"})


@dataclass(frozen=True)
class ShellSettings:
    """The settings that the app gets, and the names of those that belong to a deployment."""

    values: Mapping[str, str]
    others: tuple[str, ...]

    def lines(self) -> list[str]:
        """The message about them."""
        lines = []
        if self.values:
            lines.append(f"settings of the environment: {', '.join(sorted(self.values))}")
        if self.others:
            lines.append(f"of the environment, but for a deployment only: {', '.join(self.others)}")
        return lines


def shell_settings(environment: Mapping[str, str]) -> ShellSettings:
    """The settings of the app in an environment. Raises Failure for an invalid value."""
    ours = {
        name: value
        for name, value in environment.items()
        if name.startswith("SLIPWAY_") and (value or name == _NAMES) and name.partition("__")[0] in TABLE
    }
    plain = {
        name: value
        for name, value in ours.items()
        if name == _NAMES or (name in TABLE and TABLE[name].kind in _PLAIN and name not in _FIXED)
    }
    settings = Settings(plain)
    try:
        settings.check()
        check_keys(settings)
    except Misconfigured as error:
        raise Failure(f"in the environment: {error}") from error
    return ShellSettings(plain, tuple(sorted(set(ours) - set(plain))))


def check_keys(settings: Settings) -> None:
    """Raise Misconfigured for named keys that the app would refuse, and then answer no call."""
    if (document := settings.document(_NAMES)) != {}:
        try:
            named_keys(document, tokens=bool(settings.text("SLIPWAY_TENANT")))
        except ValueError as error:
            raise Misconfigured(f"{_NAMES}: {error}") from error


def closed(values: Mapping[str, str]) -> dict[str, str]:
    """The settings, by which only operators' keys open the host's own API where the app knows its callers.

    That API runs functions without asking the app, and so in any team's name.
    """
    settings = Settings(values)
    if settings.text("SLIPWAY_TENANT"):
        return {**values, _ADMIN_KEYS: ""}
    if (document := settings.document(_NAMES)) == {}:
        return dict(values)
    holders = named_keys(document).holders
    digests = (digest for digest, holder in holders.items() if ADMIN in holder.roles)
    return {**values, _ADMIN_KEYS: ",".join(digests)}


def with_file(shell: ShellSettings, file: Mapping[str, str]) -> dict[str, str]:
    """The settings of the shell under those of the file. Raises Failure if their named keys differ."""
    if _NAMES in shell.values and _NAMES in file and shell.values[_NAMES].strip() != file[_NAMES].strip():
        raise Failure(f"{_NAMES} is in the environment, and another one in the file: remove one of them")
    return {**shell.values, **file}
